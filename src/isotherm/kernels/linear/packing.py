"""The layout in which C reads weights: panels of 64 rows, k by k (float32) or pair by pair (bfloat16)."""

import torch
from torch import Tensor

PANEL = 64


def pack(weight: Tensor, dtype: torch.dtype) -> Tensor:
    """weight [..., N, K] rounded to `dtype` -> [..., ceil(N/64), ceil(K/p), 64, p], p = 2 for bfloat16 and 1 for float32; zeros
    beyond N and K."""
    *outer, n, k = weight.shape
    pair = 2 if dtype == torch.bfloat16 else 1
    panels, steps = -(-n // PANEL), -(-k // pair)
    padded = torch.zeros(*outer, panels * PANEL, steps * pair, dtype=dtype)
    padded[..., :n, :k] = weight
    return padded.view(*outer, panels, PANEL, steps, pair).transpose(-3, -2).contiguous()
