"""Gates by torch, in float32, rounded once."""

import torch
from torch import Tensor
from torch.nn import functional


def silu_mul(gate_up: Tensor) -> Tensor:
    """gate_up [M, 2I] -> [M, I]."""
    gate, up = gate_up.float().chunk(2, dim=-1)
    return (functional.silu(gate) * up).to(gate_up.dtype)


def sigmoid_mul(x: Tensor, gate: Tensor) -> Tensor:
    """x, gate [M, D]."""
    return (x.float() * torch.sigmoid(gate.float())).to(x.dtype)
