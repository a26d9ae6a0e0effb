"""Grouped expert linear in torch: one matrix-vector product of one shape a pair, in float32."""

import torch
from torch import Tensor

from isotherm.kernels.api import Experts, Groups
from isotherm.kernels.fixed import each_row, fresh


def pack_experts(dtype: torch.dtype, weight: Tensor) -> Experts:
    """weight [E, N, K] rounded to `dtype` and held in float32, each expert's matrix in memory of its own alignment."""
    e, n, k = weight.shape
    return Experts(e, n, k, fresh(weight.to(dtype)))


def grouped_linear(dtype: torch.dtype, x: Tensor, experts: Experts, groups: Groups, gather: bool) -> Tensor:
    """x [M, K] read through groups.rows if `gather`, else [P, K] -> [P, N]."""
    out = torch.empty(groups.rows.shape[0], experts.n, dtype=dtype)
    rows = x[groups.rows.long()] if gather else x
    bounds = groups.offsets.tolist()
    for expert in range(experts.e):
        pairs = slice(bounds[expert], bounds[expert + 1])
        if pairs.start < pairs.stop:
            matrix = experts.data[expert]
            matrix = fresh(matrix) if matrix.data_ptr() % 64 else matrix
            each_row(lambda row, matrix=matrix: torch.mv(matrix, row), out[pairs], rows[pairs])
    return out
