"""Linear layers by torch's matrix product: its blocking may follow the number of rows."""

import torch
from torch import Tensor
from torch.nn import functional

from isotherm.kernels.api import Linear

DTYPE = torch.bfloat16


def pack(weight: Tensor) -> Linear:
    """weight [N, K] in bfloat16."""
    n, k = weight.shape
    return Linear(n, k, weight.to(DTYPE).contiguous())


def linear(x: Tensor, weight: Linear, residual: Tensor | None = None) -> Tensor:
    """x [M, K] -> [M, N]. The product is rounded before the residual is added."""
    out = functional.linear(x, weight.data)
    return out if residual is None else residual + out


def logits(x: Tensor, weight: Linear) -> Tensor:
    """x [M, K] -> [M, N] float32, rounded to bfloat16 on the way, as engines do."""
    return functional.linear(x, weight.data).float()


def embed(tokens: Tensor, table: Linear) -> Tensor:
    """tokens [M] -> [M, K]."""
    return functional.embedding(tokens.long(), table.data)
