"""Gates on the GPU: launches of triton_kernels."""

import torch
import triton
from torch import Tensor

from isotherm.kernels.activation import triton_kernels as tk
from isotherm.kernels.gpu.launch import OPTIONS, overlap

_FEW = 64
"""Rows up to which a program takes one of them: no part of the bits."""


def silu_mul(gate_up: Tensor) -> Tensor:
    """gate_up [M, 2I] -> [M, I]."""
    rows, d = gate_up.shape[0], gate_up.shape[1] // 2
    if 2 * d != gate_up.shape[1]:
        raise ValueError(f"gate_up: columns must be even, got {gate_up.shape[1]}")
    out = torch.empty(rows, d, dtype=gate_up.dtype, device=gate_up.device)
    grid, sizes = _tiles(rows, d)
    tk.silu_mul[grid](gate_up, out, gate_up.stride(0), rows, d, **sizes, **overlap(), **OPTIONS)
    return out


def sigmoid_mul(x: Tensor, gate: Tensor) -> Tensor:
    """x, gate [M, D] -> [M, D]."""
    rows, d = x.shape
    out = torch.empty(rows, d, dtype=x.dtype, device=x.device)
    grid, sizes = _tiles(rows, d)
    tk.sigmoid_mul[grid](x, gate, out, x.stride(0), gate.stride(0), rows, d, **sizes, **overlap(), **OPTIONS)
    return out


def _tiles(rows: int, d: int) -> tuple[tuple[int, int], dict[str, int]]:
    columns = min(1024, triton.next_power_of_2(d))
    height = 1 if rows <= _FEW else max(1, 4096 // columns)
    return (triton.cdiv(rows, height), triton.cdiv(d, columns)), {"BM": height, "BD": columns}
