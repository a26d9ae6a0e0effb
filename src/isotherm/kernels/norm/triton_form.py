"""RMS norms on the GPU: launches of triton_kernels."""

import torch
import triton
from torch import Tensor

from isotherm.kernels.gpu.launch import OPTIONS, aligned, overlap, units
from isotherm.kernels.norm import triton_kernels as tk

TILE = 4096
"""Elements a program takes of a row's heads. Part of the bits, as is everything that follows from a row's shape."""


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x [M, D], weight [D] float32 -> [M, D]."""
    x = aligned(x)
    rows, d = x.shape
    out = torch.empty(rows, d, dtype=x.dtype, device=x.device)
    columns = triton.next_power_of_2(d)
    tk.rms_norm[(rows,)](
        x,
        weight,
        out,
        units(x),
        eps,
        D=d,
        BD=columns,
        UNIT=16 // x.element_size(),
        num_warps=warps(columns),
        **overlap(),
        **OPTIONS,
    )
    return out


def gated_rms_norm(x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x, gate [M, H*D], weight [D] float32 -> [M, H*D]."""
    return _gated(x, gate, weight, eps, False)


def sigmoid_gated_rms_norm(x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x, gate [M, H*D], weight [D] float32 -> [M, H*D]."""
    return _gated(x, gate, weight, eps, True)


def _gated(x: Tensor, gate: Tensor, weight: Tensor, eps: float, sigmoid: bool) -> Tensor:
    x, gate = aligned(x), aligned(gate)
    rows, d = x.shape[0], weight.shape[0]
    heads = x.shape[1] // d
    if heads * d != x.shape[1]:
        raise ValueError(f"x: columns must be a multiple of {d}, got {x.shape[1]}")
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    height, columns = heads_a_tile(heads, d)
    tk.gated_rms_norm[(rows, triton.cdiv(heads, height))](
        x, gate, weight, out, units(x), units(gate), eps,
        HEADS=heads, D=d, BH=height, BD=columns, UNIT=16 // x.element_size(), SIGMOID=sigmoid,
        num_warps=warps(height * columns), **overlap(), **OPTIONS,
    )  # fmt: skip
    return out


def heads_a_tile(heads: int, d: int) -> tuple[int, int]:
    """Rows and columns of a tile of whole heads, by the shape of a row alone."""
    columns = triton.next_power_of_2(d)
    return min(triton.next_power_of_2(heads), max(1, TILE // columns)), columns


def warps(elements: int) -> int:
    """Of a program with so many elements, a power of two."""
    return max(1, min(8, elements // 1024))
