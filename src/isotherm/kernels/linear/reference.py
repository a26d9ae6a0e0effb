"""Linear layers as their definition says, in the dtype of x."""

from torch import Tensor


def linear(x: Tensor, weight: Tensor, residual: Tensor | None = None) -> Tensor:
    """x [M, K], weight [N, K], residual [M, N]."""
    y = x @ weight.T
    return y if residual is None else residual + y


def embed(tokens: Tensor, weight: Tensor) -> Tensor:
    """tokens [M], weight [N, K] -> [M, K]."""
    return weight[tokens.long()]
