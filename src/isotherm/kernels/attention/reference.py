"""Causal attention of a whole sequence, as its definition has it."""

import torch
from torch import Tensor


def attention(q: Tensor, k: Tensor, v: Tensor, heads: int, scale: float) -> Tensor:
    """q [T, Hq*D], k and v [T, H*D] with H = `heads` -> [T, Hq*D], in q's dtype."""
    tokens, dim = q.shape[0], k.shape[1] // heads
    group = q.shape[1] // k.shape[1]
    queries = q.reshape(tokens, heads * group, dim).transpose(0, 1)
    keys, values = (x.reshape(tokens, heads, dim).transpose(0, 1).repeat_interleave(group, dim=0) for x in (k, v))
    scores = queries @ keys.transpose(1, 2) * scale
    scores = scores.masked_fill(torch.ones(tokens, tokens).triu(1).bool(), -torch.inf)
    return (torch.softmax(scores, dim=-1) @ values).transpose(0, 1).reshape(tokens, -1)
