"""Linear layers in torch: one matrix-vector product of one shape a row, in float32."""

import torch
from torch import Tensor

from isotherm.kernels.api import Linear
from isotherm.kernels.fixed import each_row, fresh


def pack(dtype: torch.dtype, weight: Tensor) -> Linear:
    """weight [N, K] rounded to `dtype` and held in float32, so that products are exact and sums are float32."""
    n, k = weight.shape
    return Linear(n, k, fresh(weight.to(dtype)))


def linear(dtype: torch.dtype, x: Tensor, weight: Linear, residual: Tensor | None = None) -> Tensor:
    """x [M, K] -> round(residual + x W^T) [M, N]."""
    out = torch.empty(x.shape[0], weight.n, dtype=dtype)
    if residual is None:
        return each_row(lambda row: torch.mv(weight.data, row), out, x)
    return each_row(lambda row, base: base + torch.mv(weight.data, row), out, x, residual)


def logits(x: Tensor, weight: Linear) -> Tensor:
    """x [M, K] -> x W^T [M, N] float32."""
    return each_row(lambda row: torch.mv(weight.data, row), torch.empty(x.shape[0], weight.n), x)


def embed(dtype: torch.dtype, tokens: Tensor, table: Linear) -> Tensor:
    """tokens [M] int32 -> [M, K]; a copy, so any shape will do."""
    return table.data[tokens.long()].to(dtype)
