"""Hyper-connections as their definitions say, in the dtype of their inputs; a row is [..., S*H]."""

import math

import torch
from torch import Tensor


def stream_norm(x: Tensor, weight: Tensor, eps: float, streams: int) -> Tensor:
    """x [..., S*H], weight [S*H]: an RMS norm of each stream."""
    apart = x.view(*x.shape[:-1], streams, -1)
    return (apart / torch.sqrt((apart * apart).mean(-1, keepdim=True) + eps)).flatten(-2) * weight


def stream_mix(normed: Tensor, gate: Tensor, streams: int) -> Tensor:
    """normed, gate [..., S*H] -> [..., H]."""
    parts = (torch.sigmoid(gate) * normed).view(*gate.shape[:-1], streams, -1).unbind(-2)
    total: Tensor = parts[0]
    for part in parts[1:]:
        total = total + part
    return total / streams


def stream_add(x: Tensor, y: Tensor, gate: Tensor) -> Tensor:
    """x [..., S*H], y [..., H], gate [..., S] -> [..., S*H]."""
    weights = 2 * torch.sigmoid(gate / gate.shape[-1])
    return x + (y[..., None, :] * weights[..., None]).flatten(-2)


def scaled_silu(x: Tensor, divisor: int) -> Tensor:
    """x of any shape."""
    return torch.nn.functional.silu(x / divisor)


def stream_gate(key: Tensor, query: Tensor, value: Tensor, streams: int) -> Tensor:
    """key, query [..., S*H], value [..., H] -> [..., S*H]."""
    products = (key * query).view(*key.shape[:-1], streams, -1).sum(-1, keepdim=True)
    score = products / math.sqrt(value.shape[-1])
    score = score.sign() * score.abs().clamp_min(1e-6).sqrt()
    return (torch.sigmoid(score) * value[..., None, :]).flatten(-2)


def stream_sum(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """x + (a + b), all of one shape."""
    return x + (a + b)
