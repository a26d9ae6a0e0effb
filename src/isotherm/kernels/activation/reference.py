"""Gates as their definitions say, in the dtype of their input."""

import torch
from torch import Tensor


def silu_mul(gate_up: Tensor) -> Tensor:
    """gate_up [..., 2I] -> [..., I]."""
    gate, up = gate_up.chunk(2, -1)
    return torch.nn.functional.silu(gate) * up


def sigmoid_mul(x: Tensor, gate: Tensor) -> Tensor:
    """x, gate of one shape."""
    return x * torch.sigmoid(gate)
