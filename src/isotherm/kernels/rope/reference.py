"""Per-head RMS norm and rotation, written as their definition."""

import torch
from torch import Tensor


def norm_rope(x: Tensor, weight: Tensor, eps: float, positions: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x [M, H*D], weight [D], positions [M], cos and sin [positions, R/2] -> [M, H*D], in x's dtype."""
    dim, half = weight.shape[0], cos.shape[1]
    heads = x.reshape(x.shape[0], -1, dim)
    normed = heads / torch.sqrt((heads * heads).mean(-1, keepdim=True) + eps) * weight.to(x.dtype)
    c, s = (table[positions.long()].to(x.dtype)[:, None, :] for table in (cos, sin))
    first, second, rest = torch.split(normed, [half, half, dim - 2 * half], dim=-1)
    return torch.cat([first * c - second * s, second * c + first * s, rest], dim=-1).reshape(x.shape)
