"""Indexed attention of a whole sequence, as its definition has it."""

import math

import torch
from torch import Tensor

from isotherm.kernels.attention import reference as dense


def pooled_keys(keys: Tensor, ratio: int) -> Tensor:
    """keys [T, D] -> means of the complete groups [T // R, D]; norm and rotation come after."""
    groups = keys.shape[0] // ratio
    return keys[: groups * ratio].view(groups, ratio, keys.shape[1]).mean(dim=1)


def chosen_keys(q: Tensor, pooled: Tensor, heads: int, ratio: int, most: int) -> Tensor:
    """q [T, heads*D], pooled [groups, D] -> [T, T] bool: which keys each row attends to."""
    tokens, dim = q.shape[0], pooled.shape[1]
    scores = torch.relu(q.view(tokens, heads, dim) @ pooled.T).sum(dim=1) / math.sqrt(dim)
    mask = torch.zeros(tokens, tokens, dtype=torch.bool)
    for t in range(tokens):
        complete = (t + 1) // ratio
        best = torch.sort(scores[t, :complete], descending=True, stable=True).indices[:most]
        for group in best.tolist():
            mask[t, group * ratio : (group + 1) * ratio] = True
        mask[t, complete * ratio : t + 1] = True
    return mask


def indexed_attention(q: Tensor, k: Tensor, v: Tensor, heads: int, mask: Tensor, scale: float) -> Tensor:
    """As isotherm.kernels.attention.reference, each row over the keys of its mask alone."""
    rows = []
    for t in range(q.shape[0]):
        kept = mask[t].nonzero().flatten()
        last = torch.zeros(len(kept), q.shape[1], dtype=q.dtype)
        last[-1] = q[t]
        rows.append(dense.attention(last, k[kept], v[kept], heads, scale)[-1])
    return torch.stack(rows)
