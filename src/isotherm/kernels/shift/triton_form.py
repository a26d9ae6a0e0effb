"""The shift on the GPU: launches of triton_kernels, with what a convolution of width 2 keeps."""

import torch
import triton
from torch import Tensor

from isotherm.kernels.batch import Batch
from isotherm.kernels.convolution.triton_form import keep_boundaries, keep_late_rows
from isotherm.kernels.gpu.batch import on_device
from isotherm.kernels.gpu.launch import OPTIONS, overlap
from isotherm.kernels.gpu.rows import row_plan
from isotherm.kernels.shift import triton_kernels as tk
from isotherm.kernels.state import ConvState


def shift(batch: Batch, x: Tensor, state: ConvState) -> Tensor:
    """See isotherm.kernels.api.Kernels.shift."""
    on, channels = on_device(batch, x.device), state.shape.channels
    plan = row_plan(on)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    columns = min(1024, triton.next_power_of_2(channels))
    keep_boundaries(on, x, state)
    tk.shift[(on.rows, triton.cdiv(channels, columns))](
        on.positions, plan.segments, plan.keeps, on.row_offsets, on.starts, on.lanes, on.states,
        x, state.history, state.rows, out, x.stride(0), channels, BC=columns, **overlap(), **OPTIONS,
    )  # fmt: skip
    keep_late_rows(on, x, state)
    return out
