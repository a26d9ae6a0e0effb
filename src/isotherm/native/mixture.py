"""Mixture of experts by torch: top-k, one product an expert, a weighted sum."""

import torch
from torch import Tensor
from torch.nn import functional

from isotherm.kernels.api import Experts, Groups, Routing
from isotherm.native.linear import DTYPE


def route(logits: Tensor, k: int, renormalize: bool) -> Routing:
    """logits [M, E] -> the k likeliest, ids ascending in each row."""
    weights, experts = torch.topk(torch.softmax(logits, dim=-1), k, dim=-1)
    experts, order = experts.sort(dim=-1)
    weights = weights.gather(1, order)
    return Routing(experts.int(), weights / weights.sum(dim=-1, keepdim=True) if renormalize else weights)


def pack_experts(weight: Tensor) -> Experts:
    """weight [E, N, K] in bfloat16."""
    e, n, k = weight.shape
    return Experts(e, n, k, weight.to(DTYPE).contiguous())


def grouped_linear(x: Tensor, experts: Experts, groups: Groups, gather: bool) -> Tensor:
    """x [M, K] read through groups.rows if `gather`, else [P, K] -> [P, N]."""
    rows = x[groups.rows.long()] if gather else x
    parts = torch.split(rows, groups.offsets.diff().tolist())
    return torch.cat([functional.linear(part, experts.data[e]) for e, part in enumerate(parts)])


def combine(
    pairs: Tensor, routing: Routing, groups: Groups, shared: Tensor | None, shared_gate: Tensor | None, residual: Tensor
) -> Tensor:
    """pairs [P, N], shared and residual [M, N], shared_gate [M, 1] -> [M, N], in float32, rounded once."""
    y = residual.float() + (pairs[groups.places.long()].float() * routing.weights[..., None]).sum(dim=1)
    if shared is not None:
        gate = 1.0 if shared_gate is None else torch.sigmoid(shared_gate.float())
        y = y + gate * shared.float()
    return y.to(residual.dtype)
