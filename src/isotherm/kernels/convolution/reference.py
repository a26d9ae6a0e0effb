"""The convolution of a whole sequence, written as its definition."""

import torch
from torch import Tensor


def causal_conv(x: Tensor, weight: Tensor, dilation: int = 1) -> Tensor:
    """x [T, C], weight [C, W] -> silu(causal convolution) [T, C], from an empty history, in x's dtype."""
    width = weight.shape[1]
    padded = torch.cat([x.new_zeros((width - 1) * dilation, x.shape[1]), x])
    total = torch.zeros_like(x)
    for tap in range(width):
        total = total + padded[tap * dilation : tap * dilation + x.shape[0]] * weight[:, tap].to(x.dtype)
    return total / (1 + torch.exp(-total))
