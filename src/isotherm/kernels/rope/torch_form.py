"""Per-head norm and rotation in torch: one row a call, always on [H, D]."""

import torch
from torch import Tensor

from isotherm.kernels.api import RopeTable
from isotherm.kernels.fixed import fresh, one_thread


@one_thread()
def norm_rope(x: Tensor, weight: Tensor, eps: float, positions: Tensor, table: RopeTable) -> Tensor:
    """See isotherm.kernels.api.Kernels.norm_rope."""
    out = torch.empty(x.shape, dtype=x.dtype)
    for row, position in enumerate(positions.tolist()):
        heads = fresh(x[row].reshape(-1, weight.shape[0]))
        out[row] = _row(heads, weight, eps, fresh(table.cos[position]), fresh(table.sin[position])).reshape(-1)
    return out


def _row(heads: Tensor, weight: Tensor, eps: float, cos: Tensor, sin: Tensor) -> Tensor:
    half = cos.shape[0]
    normed = heads * torch.rsqrt((heads * heads).mean(-1, keepdim=True) + eps) * weight
    first, second = fresh(normed[:, :half]), fresh(normed[:, half : 2 * half])
    return torch.cat([first * cos - second * sin, second * cos + first * sin, normed[:, 2 * half :]], dim=1)
