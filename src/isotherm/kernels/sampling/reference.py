"""The choice of a token, as its definition has it, in float64."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isotherm.kernels.sampling.noise import gumbel


def log_sum_exp(logits: Tensor) -> Tensor:
    """logits [R, V] -> [R]."""
    return torch.logsumexp(logits, dim=-1)


def order(logits: Tensor) -> Tensor:
    """logits [V] -> ids [V], logit descending, id ascending."""
    return torch.sort(logits, descending=True, stable=True).indices


def kept(logits: Tensor, temperature: float, top_k: int, top_p: float, min_p: float) -> Tensor:
    """The ids that may be chosen from logits [V], in order."""
    ids = order(logits)
    x = (logits[ids].double() - logits.max()) / temperature
    weights = torch.exp(x)
    count = int((weights >= min_p).sum()) if min_p > 0 else len(ids)
    count = min(count, int((weights > 0).sum()), top_k if top_k > 0 else len(ids))
    weights = weights[:count] / weights[:count].sum()
    before = torch.cumsum(weights, 0) - weights
    return ids[:count][before < top_p] if top_p < 1 else ids[:count]


def sample(
    logits: Tensor, temperature: float, top_k: int, top_p: float, min_p: float, key: tuple[int, int, int]
) -> int:
    """One token from logits [V]."""
    if temperature == 0:
        return int(order(logits)[0])
    ids = kept(logits, temperature, top_k, top_p, min_p).sort().values
    noise: NDArray[np.float32] = gumbel(logits.shape[0], key)
    scores = (logits[ids].double() - logits.max()) / temperature + torch.from_numpy(noise).double()[ids]
    return int(ids[torch.argmax(scores)])
