"""Routing as its definition says, in the dtype of its input."""

import torch
from torch import Tensor

from isotherm.kernels.api import Groups, Routing


def route(logits: Tensor, k: int, renormalize: bool) -> Routing:
    """logits [M, E] -> ids [M, k] ascending in each row, weights [M, k]."""
    probabilities = torch.softmax(logits, -1)
    likeliest = torch.sort(logits, dim=-1, descending=True, stable=True).indices[:, :k]
    experts = likeliest.sort(-1).values
    weights = probabilities.gather(1, experts)
    if renormalize:
        weights = weights / weights.sum(-1, keepdim=True)
    return Routing(experts.int(), weights)


def combine(
    pairs: Tensor, routing: Routing, groups: Groups, shared: Tensor | None, shared_gate: Tensor | None, residual: Tensor
) -> Tensor:
    """pairs [P, N], shared and residual [M, N], shared_gate [M, 1] -> [M, N]."""
    y = residual + (pairs[groups.places.long()] * routing.weights.to(pairs.dtype)[..., None]).sum(1)
    if shared is None:
        return y
    return y + (shared if shared_gate is None else torch.sigmoid(shared_gate) * shared)
