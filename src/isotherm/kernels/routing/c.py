"""Routing in C."""

import torch
from torch import Tensor

from isotherm.kernels.api import Groups, Routing
from isotherm.kernels.native.arguments import matrix, vector
from isotherm.kernels.native.library import Library


def route(native: Library, logits: Tensor, k: int, renormalize: bool) -> Routing:
    """logits [M, E] float32 -> ids [M, k] int32 ascending, weights [M, k] float32."""
    rows, e = logits.shape
    if not 1 <= k <= e:
        raise ValueError(f"k: must be between 1 and {e} experts, got {k}")
    stride = matrix(logits, torch.float32, "logits")
    experts = torch.empty(rows, k, dtype=torch.int32)
    weights = torch.empty(rows, k, dtype=torch.float32)
    native.function("iso_route", "plpplllii")(
        logits.data_ptr(), stride, experts.data_ptr(), weights.data_ptr(), rows, e, k, renormalize, native.threads
    )
    return Routing(experts, weights)


def combine(
    native: Library,
    pairs: Tensor,
    routing: Routing,
    groups: Groups,
    shared: Tensor | None,
    shared_gate: Tensor | None,
    residual: Tensor,
) -> Tensor:
    """pairs [P, N], shared and residual [M, N], shared_gate [M, 1] -> [M, N]."""
    rows, n = residual.shape
    k = routing.experts.shape[1]
    residual_stride = matrix(residual, native.dtype, "residual")
    address = vector(pairs, native.dtype, "pairs", rows * k * n)
    weights = vector(routing.weights, torch.float32, "routing.weights", rows * k)
    places = vector(groups.places, torch.int32, "groups.places", rows * k)
    shared_at = gate_at = shared_stride = gate_stride = 0
    if shared is not None:
        shared_at, shared_stride = shared.data_ptr(), matrix(shared, native.dtype, "shared", n, rows)
        if shared_gate is not None:
            gate_at, gate_stride = shared_gate.data_ptr(), matrix(shared_gate, native.dtype, "shared_gate", 1, rows)
    out = native.empty(rows, n)
    native.function("iso_combine", "pppplplplpllli")(
        address, weights, places, shared_at, shared_stride, gate_at, gate_stride,
        residual.data_ptr(), residual_stride, out.data_ptr(), rows, n, k, native.threads,
    )  # fmt: skip
    return out
