"""Linear layers in torch: one matrix-vector product of one shape a row, in float32."""

import torch
from torch import Tensor

from isotherm.kernels.api import Linear
from isotherm.kernels.fixed import each_row, fresh
from isotherm.kernels.linear.fp8 import Fp8Linear
from isotherm.kernels.weight import Fp8Weight, Weight


def pack(dtype: torch.dtype, weight: Weight) -> Linear:
    """weight [N, K] rounded to `dtype` and held in float32, so that products are exact and sums are float32; or FP8, as it is."""
    n, k = weight.shape
    if isinstance(weight, Fp8Weight):
        return Fp8Linear(n, k, weight.data.contiguous(), weight.scales.contiguous())
    return Linear(n, k, fresh(weight.to(dtype)))


def linear(dtype: torch.dtype, x: Tensor, weight: Linear, residual: Tensor | None = None) -> Tensor:
    """x [M, K] -> round(residual + x W^T) [M, N]."""
    out, matrix = torch.empty(x.shape[0], weight.n, dtype=dtype), _matrix(weight)
    if residual is None:
        return each_row(lambda row: torch.mv(matrix, row), out, x)
    return each_row(lambda row, base: base + torch.mv(matrix, row), out, x, residual)


def logits(x: Tensor, weight: Linear) -> Tensor:
    """x [M, K] -> x W^T [M, N] float32."""
    matrix = _matrix(weight)
    return each_row(lambda row: torch.mv(matrix, row), torch.empty(x.shape[0], weight.n), x)


def _matrix(weight: Linear) -> Tensor:
    """[N, K] float32, of FP8 for one call."""
    return fresh(Fp8Weight(weight.data, weight.scales).dequantized()) if isinstance(weight, Fp8Linear) else weight.data


def embed(dtype: torch.dtype, tokens: Tensor, table: Linear) -> Tensor:
    """tokens [M] int32 -> [M, K]; a copy, so any shape will do."""
    return table.data[tokens.long()].to(dtype)
