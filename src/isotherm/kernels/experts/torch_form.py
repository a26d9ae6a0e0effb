"""Grouped expert linear in torch: one matrix-vector product of one shape a pair, in float32."""

import torch
from torch import Tensor

from isotherm.kernels.api import Experts, Groups
from isotherm.kernels.fixed import each_row, fresh
from isotherm.kernels.linear.fp8 import Fp8Experts
from isotherm.kernels.weight import Fp8Weight, Weight


def pack_experts(dtype: torch.dtype, weight: Weight) -> Experts:
    """weight [E, N, K] rounded to `dtype` and held in float32; or FP8, as it is."""
    e, n, k = weight.shape
    if isinstance(weight, Fp8Weight):
        return Fp8Experts(e, n, k, weight.data.contiguous(), weight.scales.contiguous())
    return Experts(e, n, k, fresh(weight.to(dtype)))


def grouped_linear(dtype: torch.dtype, x: Tensor, experts: Experts, groups: Groups, gather: bool) -> Tensor:
    """x [M, K] read through groups.rows if `gather`, else [P, K] -> [P, N]."""
    out = torch.empty(groups.rows.shape[0], experts.n, dtype=dtype)
    rows = x[groups.rows.long()] if gather else x
    bounds = groups.offsets.tolist()
    for expert in range(experts.e):
        pairs = slice(bounds[expert], bounds[expert + 1])
        if pairs.start < pairs.stop:
            matrix = _matrix(experts, expert)
            each_row(lambda row, matrix=matrix: torch.mv(matrix, row), out[pairs], rows[pairs])
    return out


def _matrix(experts: Experts, expert: int) -> Tensor:
    """[N, K] float32 in memory of its own alignment, of FP8 for one call."""
    matrix = experts.data[expert]
    if isinstance(experts, Fp8Experts):
        return fresh(Fp8Weight(matrix, experts.scales[expert]).dequantized())
    return fresh(matrix) if matrix.data_ptr() % 64 else matrix
