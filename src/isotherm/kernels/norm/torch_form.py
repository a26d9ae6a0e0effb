"""RMS norms in torch, a row or a head a call."""

import torch
from torch import Tensor

from isotherm.kernels.fixed import each_row
from isotherm.kernels.norm import reference


def rms_norm(dtype: torch.dtype, x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x [M, D] -> [M, D]."""
    return each_row(lambda row: reference.rms_norm(row, weight, eps), torch.empty(x.shape, dtype=dtype), x)


def gated_rms_norm(dtype: torch.dtype, x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x, gate [M, H*D], weight [D] -> [M, H*D]."""
    d = weight.shape[0]

    def head(x: Tensor, gate: Tensor) -> Tensor:
        return reference.rms_norm(x, weight, eps) * torch.nn.functional.silu(gate)

    out = torch.empty(x.shape, dtype=dtype)
    each_row(head, out.view(-1, d), x.reshape(-1, d), gate.reshape(-1, d))
    return out


def sigmoid_gated_rms_norm(dtype: torch.dtype, x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x, gate [M, H*D], weight [D] -> [M, H*D]."""
    d = weight.shape[0]

    def head(x: Tensor, gate: Tensor) -> Tensor:
        return reference.rms_norm(x, weight, eps) * torch.sigmoid(gate)

    out = torch.empty(x.shape, dtype=dtype)
    each_row(head, out.view(-1, d), x.reshape(-1, d), gate.reshape(-1, d))
    return out
