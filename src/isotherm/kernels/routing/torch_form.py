"""Routing in torch, a row a call."""

import torch
from torch import Tensor

from isotherm.kernels.api import Groups, Routing
from isotherm.kernels.fixed import fresh, one_thread
from isotherm.kernels.routing import reference


def route(logits: Tensor, k: int, renormalize: bool) -> Routing:
    """logits [M, E] float32 -> ids [M, k] int32 ascending, weights [M, k] float32."""
    rows = logits.shape[0]
    experts = torch.empty(rows, k, dtype=torch.int32)
    weights = torch.empty(rows, k)
    with one_thread():
        for m in range(rows):
            row = reference.route(fresh(logits[m : m + 1]), k, renormalize)
            experts[m], weights[m] = row.experts[0], row.weights[0]
    return Routing(experts, weights)


def combine(
    dtype: torch.dtype,
    pairs: Tensor,
    routing: Routing,
    groups: Groups,
    shared: Tensor | None,
    shared_gate: Tensor | None,
    residual: Tensor,
) -> Tensor:
    """pairs [P, N], shared and residual [M, N], shared_gate [M, 1] -> [M, N]."""
    out = torch.empty(residual.shape, dtype=dtype)
    places, weights = groups.places.tolist(), routing.weights.tolist()
    with one_thread():
        for m, row in enumerate(out):
            total = torch.zeros(residual.shape[1])
            for place, weight in zip(places[m], weights[m], strict=True):
                total = total + fresh(pairs[place]) * weight
            total = fresh(residual[m]) + total
            if shared is not None:
                gate = 1.0 if shared_gate is None else torch.sigmoid(fresh(shared_gate[m]))
                total = total + gate * fresh(shared[m])
            row.copy_(total)
    return out
