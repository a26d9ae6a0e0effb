"""Indexed attention of a whole sequence, as its definition has it."""

import math

import torch
from torch import Tensor

from isotherm.kernels.attention import reference as dense


def pooled_keys(keys: Tensor, ratio: int, skip: int = 0) -> Tensor:
    """keys [T, D] -> means of the complete groups [T // R, D], of the first without its first `skip` keys; norm and rotation
    come after."""
    groups = keys.shape[0] // ratio
    return torch.stack([keys[max(g * ratio, skip) : (g + 1) * ratio].mean(dim=0) for g in range(groups)])


def chosen_keys(q: Tensor, pooled: Tensor, heads: int, ratio: int, most: int, skip: int = 0) -> Tensor:
    """q [T, heads*D], pooled [groups, D] -> [T, T] bool: which keys each row attends to. skip: 1 for not key 0, but for row 0."""
    tokens, dim = q.shape[0], pooled.shape[1]
    scores = torch.relu(q.view(tokens, heads, dim) @ pooled.T).sum(dim=1) / math.sqrt(dim)
    mask = torch.zeros(tokens, tokens, dtype=torch.bool)
    for t in range(tokens):
        complete = (t + 1) // ratio
        best = torch.sort(scores[t, :complete], descending=True, stable=True).indices[:most]
        for group in best.tolist():
            mask[t, group * ratio : (group + 1) * ratio] = True
        mask[t, complete * ratio : t + 1] = True
        mask[t, : min(skip, t)] = False
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
