"""RMS norm of each head and rotation on the GPU: a launch of triton_kernels."""

import torch
import triton
from torch import Tensor

from isotherm.kernels.api import RopeTable
from isotherm.kernels.gpu.launch import OPTIONS, aligned, overlap, units
from isotherm.kernels.norm.triton_form import heads_a_tile, warps
from isotherm.kernels.rope import triton_kernels as tk


def norm_rope(x: Tensor, weight: Tensor, eps: float, positions: Tensor, table: RopeTable) -> Tensor:
    """x [M, H*D], weight [D] float32, positions [M] int32, all on the device, as the table is -> [M, H*D]."""
    x = aligned(x)
    rows, d, half = x.shape[0], weight.shape[0], table.cos.shape[1]
    heads = x.shape[1] // d
    if heads * d != x.shape[1] or 2 * half > d:
        raise ValueError(f"x: {x.shape[1]} columns are not heads of {d} of which {2 * half} columns rotate")
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    height, columns = heads_a_tile(heads, d)
    tk.norm_rope[(rows, triton.cdiv(heads, height))](
        x, weight, positions, table.cos, table.sin, out, units(x), eps,
        HEADS=heads, D=d, HALF=half, BH=height, BD=columns, BR=triton.next_power_of_2(half), UNIT=16 // x.element_size(),
        num_warps=warps(height * columns), **overlap(), **OPTIONS,
    )  # fmt: skip
    return out
