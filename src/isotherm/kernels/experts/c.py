"""Grouped expert linear in C."""

import torch
from torch import Tensor

from isotherm.kernels.api import Experts, Groups
from isotherm.kernels.linear.fp8 import Fp8Experts
from isotherm.kernels.linear.packing import pack, pack_fp8
from isotherm.kernels.native.arguments import matrix, vector
from isotherm.kernels.native.library import Library
from isotherm.kernels.weight import Fp8Weight, Weight


def pack_experts(native: Library, weight: Weight) -> Experts:
    """weight [E, N, K], any float dtype or FP8."""
    e, n, k = weight.shape
    if isinstance(weight, Fp8Weight):
        return Fp8Experts(e, n, k, *pack_fp8(weight, native.dtype))
    return Experts(e, n, k, pack(weight, native.dtype))


def grouped_linear(native: Library, x: Tensor, experts: Experts, groups: Groups, gather: bool) -> Tensor:
    """x [M, K] read through groups.rows if `gather`, else [P, K] -> [P, N]."""
    pairs = groups.rows.shape[0]
    stride = matrix(x, native.dtype, "x", experts.k, None if gather else pairs)
    rows = vector(groups.rows, torch.int32, "groups.rows")
    offsets = vector(groups.offsets, torch.int32, "groups.offsets", experts.e + 1)
    out = native.empty(pairs, experts.n)
    if isinstance(experts, Fp8Experts):
        native.function("iso_fp8_grouped_linear", "plpppppllli")(
            x.data_ptr(), stride, rows if gather else 0, offsets, experts.data.data_ptr(), experts.scales.data_ptr(),
            out.data_ptr(), experts.e, experts.n, experts.k, native.threads,
        )  # fmt: skip
        return out
    native.function("iso_grouped_linear", "plppppllli")(
        x.data_ptr(), stride, rows if gather else 0, offsets, experts.data.data_ptr(), out.data_ptr(),
        experts.e, experts.n, experts.k, native.threads,
    )  # fmt: skip
    return out
