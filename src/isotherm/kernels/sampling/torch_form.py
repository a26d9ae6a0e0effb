"""Sampling in torch: one row a call, always over the whole vocabulary."""

import torch
from torch import Tensor

from isotherm.kernels.fixed import fresh, one_thread
from isotherm.kernels.sampling.noise import gumbel


@one_thread()
def log_sum_exp(logits: Tensor) -> Tensor:
    """See isotherm.kernels.api.Kernels.log_sum_exp."""
    out = torch.empty(logits.shape[0])
    for i, row in enumerate(logits):
        x = fresh(row)
        largest = x.max()
        out[i] = torch.log(torch.exp(x - largest).sum()) + largest
    return out


def top(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """See isotherm.kernels.api.Kernels.top."""
    values, ids = torch.sort(logits, dim=-1, descending=True, stable=True)
    return ids[:, :k].to(torch.int32), values[:, :k].contiguous()


@one_thread()
def sample(
    logits: Tensor, temperature: float, top_k: int, top_p: float, min_p: float, key: tuple[int, int, int]
) -> int:
    """See isotherm.kernels.api.Kernels.sample."""
    if temperature == 0:
        return _first_largest(logits)
    x = (fresh(logits) - logits.max()) / temperature
    if top_k > 0 or top_p < 1 or min_p > 0:
        x = _filtered(x, top_k, top_p, min_p)
    return _first_largest(x + torch.from_numpy(gumbel(x.shape[0], key)))


def _first_largest(x: Tensor) -> int:
    """The lowest id of the largest value; 0 where a NaN makes the question meaningless."""
    places = torch.nonzero(x == x.max())
    return int(places[0]) if len(places) else 0


def _filtered(x: Tensor, top_k: int, top_p: float, min_p: float) -> Tensor:
    """x [V] with -inf wherever a rule removes the token."""
    values, ids = torch.sort(x, descending=True, stable=True)
    weights = torch.exp(values - values[0])
    live = weights >= min_p
    if top_k > 0:
        live &= torch.arange(x.shape[0]) < top_k
    weights = torch.where(live, weights, 0.0)
    sums = torch.cumsum(weights, 0)
    if top_p < 1:
        live &= torch.cat([sums.new_zeros(1), sums[:-1]]) < top_p * sums[-1]
    return torch.full_like(x, -torch.inf).scatter(0, ids[live], values[live])
