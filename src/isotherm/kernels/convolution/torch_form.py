"""The convolution in torch: one position a call, always on [W, C]."""

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK, block_floor
from isotherm.kernels.batch import Batch
from isotherm.kernels.fixed import fresh, one_thread
from isotherm.kernels.segments import segment_views
from isotherm.kernels.state import ConvShape, ConvState


def conv_state(dtype: torch.dtype, shape: ConvShape, slots: int, lanes: int) -> ConvState:
    """Storage in the activation type, touched only where written; slot 0 is zeros."""
    history = torch.empty(slots, shape.history, shape.channels, dtype=dtype)
    history[0].zero_()
    return ConvState(shape, history, torch.empty(lanes, BLOCK, shape.channels, dtype=dtype))


@one_thread()
def causal_conv(batch: Batch, x: Tensor, weight: Tensor, state: ConvState) -> Tensor:
    """See isotherm.kernels.api.Kernels.causal_conv."""
    before, dilation = state.shape.history, state.shape.dilation
    out = torch.empty(x.shape, dtype=x.dtype)
    for view in segment_views(batch):
        kept = state.rows[view.lane, : view.start - view.base]
        own = x[view.row : view.row + view.end - view.start]
        inputs = torch.cat([state.history[view.state], kept, own])  # row i is position base - (W-1) dilation + i
        for position in range(view.start, view.end):
            first = position - view.base
            out[view.row + position - view.start] = _row(fresh(inputs[first : first + before + 1 : dilation]), weight)
        for boundary, slot in view.writes:
            first = boundary - view.base
            state.history[slot] = inputs[first : first + before]
        since = max(block_floor(view.end), view.start)
        state.rows[view.lane, since % BLOCK : since % BLOCK + view.end - since] = own[since - view.start :]
    return out


def _row(window: Tensor, weight: Tensor) -> Tensor:
    """window [W, C] float32 -> [C] float32."""
    total = window[0] * weight[:, 0]
    for tap in range(1, window.shape[0]):
        total = total + window[tap] * weight[:, tap]
    return total * torch.sigmoid(total)
