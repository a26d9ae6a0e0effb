"""Grouped expert linear as its definition says, in the dtype of x."""

import torch
from torch import Tensor

from isotherm.kernels.api import Groups


def grouped_linear(x: Tensor, weight: Tensor, groups: Groups, gather: bool) -> Tensor:
    """x [M, K] read through groups.rows if `gather`, else [P, K]; weight [E, N, K] -> [P, N]."""
    out = torch.empty(groups.rows.shape[0], weight.shape[1], dtype=x.dtype, device=x.device)
    for expert, matrix in enumerate(weight):
        pairs = slice(int(groups.offsets[expert]), int(groups.offsets[expert + 1]))
        rows = x[groups.rows[pairs].long()] if gather else x[pairs]
        out[pairs] = rows @ matrix.T
    return out
