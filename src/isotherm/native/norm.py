"""RMS norms by torch, in float32."""

import torch
from torch import Tensor
from torch.nn import functional


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x [..., D], weight [D] float32."""
    return functional.rms_norm(x.float(), weight.shape, weight, eps).to(x.dtype)


def gated_rms_norm(x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x, gate [M, H*D], weight [D] float32: each D columns are normalised apart."""
    heads = x.reshape(x.shape[0], -1, weight.shape[0]).float()
    normed = functional.rms_norm(heads, weight.shape, weight, eps).reshape(x.shape)
    return (normed * functional.silu(gate.float())).to(x.dtype)


def rotated(x: Tensor, weight: Tensor, eps: float, cos: Tensor, sin: Tensor) -> Tensor:
    """Per-head norm, then rotation in halves of the first columns. x [M, H*D], weight [D], cos and sin [M, R/2] -> [M, H*D]."""
    dim, half = weight.shape[0], cos.shape[1]
    heads = functional.rms_norm(x.reshape(x.shape[0], -1, dim).float(), weight.shape, weight, eps)
    first, second, rest = torch.split(heads, [half, half, dim - 2 * half], dim=-1)
    c, s = cos[:, None], sin[:, None]
    return torch.cat([first * c - second * s, second * c + first * s, rest], dim=-1).reshape(x.shape).to(x.dtype)
