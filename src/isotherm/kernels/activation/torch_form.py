"""Gates in torch, a row a call."""

import torch
from torch import Tensor

from isotherm.kernels.activation import reference
from isotherm.kernels.fixed import each_row


def silu_mul(dtype: torch.dtype, gate_up: Tensor) -> Tensor:
    """gate_up [M, 2I] -> [M, I]."""
    rows, columns = gate_up.shape
    return each_row(reference.silu_mul, torch.empty(rows, columns // 2, dtype=dtype), gate_up)


def sigmoid_mul(dtype: torch.dtype, x: Tensor, gate: Tensor) -> Tensor:
    """x, gate [M, D] -> [M, D]."""
    return each_row(reference.sigmoid_mul, torch.empty(x.shape, dtype=dtype), x, gate)
