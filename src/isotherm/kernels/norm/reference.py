"""RMS norms as their definitions say, in the dtype of x."""

import torch
from torch import Tensor


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x [..., D], weight [D]."""
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps) * weight


def gated_rms_norm(x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x, gate [M, H*D], weight [D]: each D columns are normalised apart."""
    heads = x.view(x.shape[0], -1, weight.shape[0])
    return rms_norm(heads, weight, eps).view_as(x) * torch.nn.functional.silu(gate)


def sigmoid_gated_rms_norm(x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x, gate [M, H*D], weight [D]: each D columns are normalised apart."""
    heads = x.view(x.shape[0], -1, weight.shape[0])
    return rms_norm(heads, weight, eps).view_as(x) * torch.sigmoid(gate)
