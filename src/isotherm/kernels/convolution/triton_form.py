"""The convolution on the GPU: launches of triton_kernels."""

import torch
import triton
from torch import Tensor

from isotherm.core.constants import BLOCK
from isotherm.kernels.batch import Batch
from isotherm.kernels.convolution import triton_kernels as tk
from isotherm.kernels.gpu.batch import DeviceBatch, on_device
from isotherm.kernels.gpu.launch import OPTIONS, overlap
from isotherm.kernels.gpu.rows import row_plan
from isotherm.kernels.state import ConvShape, ConvState

_FEW = 256
"""Rows up to which a program takes one of them: no part of the bits."""


def conv_state(dtype: torch.dtype, shape: ConvShape, slots: int, lanes: int, device: torch.device) -> ConvState:
    """Storage in the activation type, touched only where written; slot 0 is zeros."""
    history = torch.empty(slots, shape.history, shape.channels, dtype=dtype, device=device)
    history[0].zero_()
    return ConvState(shape, history, torch.empty(lanes, BLOCK, shape.channels, dtype=dtype, device=device))


def causal_conv(batch: Batch, x: Tensor, weight: Tensor, state: ConvState) -> Tensor:
    """See isotherm.kernels.api.Kernels.causal_conv."""
    channels, width, on = state.shape.channels, state.shape.width, on_device(batch, x.device)
    plan = row_plan(on)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    height, columns = (1 if on.rows <= _FEW else 16), min(256, triton.next_power_of_2(channels))
    keep_boundaries(on, x, state)
    tk.causal_conv[(triton.cdiv(on.rows, height), triton.cdiv(channels, columns))](
        on.positions, plan.segments, plan.keeps, on.row_offsets, on.starts, on.lanes, on.states,
        x, weight, state.history, state.rows, out, x.stride(0), on.rows, channels,
        WIDTH=width, DILATION=state.shape.dilation, BM=height, BC=columns, num_warps=4 if height > 1 else 2,
        **overlap(), **OPTIONS,
    )  # fmt: skip
    keep_late_rows(on, x, state)
    return out


def keep_boundaries(batch: DeviceBatch, x: Tensor, state: ConvState) -> None:
    """Writes the slots of the boundaries that the pass keeps. Before the lanes are written."""
    plan, channels = row_plan(batch), state.shape.channels
    if not plan.writes.shape[0]:
        return
    columns = min(512, triton.next_power_of_2(channels))
    tk.keep_history[(plan.writes.shape[0], triton.cdiv(channels, columns))](
        plan.writes, batch.write_positions, batch.write_slots, batch.row_offsets, batch.starts, batch.lanes, batch.states,
        x, state.history, state.rows, x.stride(0), channels,
        BEFORE=state.shape.history, BB=triton.next_power_of_2(state.shape.history), BC=columns, **overlap(), **OPTIONS,
    )  # fmt: skip


def keep_late_rows(batch: DeviceBatch, x: Tensor, state: ConvState) -> None:
    """Writes the lane rows that the pass read first."""
    plan, channels = row_plan(batch), state.shape.channels
    if not plan.late.shape[0]:
        return
    columns = min(1024, triton.next_power_of_2(channels))
    tk.keep_late[(plan.late.shape[0], triton.cdiv(channels, columns))](
        plan.late, x, state.rows, x.stride(0), channels, BC=columns, **overlap(), **OPTIONS
    )
