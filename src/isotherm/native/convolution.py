"""The short convolution by torch: conv1d for a segment, a sum of products for a single token."""

import torch
from torch import Tensor
from torch.nn import functional

from isotherm.core.constants import BLOCK
from isotherm.kernels.batch import Batch
from isotherm.kernels.segments import segment_views
from isotherm.kernels.state import ConvShape, ConvState
from isotherm.native.linear import DTYPE


def conv_state(shape: ConvShape, slots: int, lanes: int) -> ConvState:
    """history [slots, W-1, C]; rows [lanes, W-1, C], the last inputs of a live sequence, wherever it is. Slot 0 is zeros."""
    history = torch.empty(slots, shape.width - 1, shape.channels, dtype=DTYPE)
    history[0].zero_()
    return ConvState(shape, history, torch.empty(lanes, shape.width - 1, shape.channels, dtype=DTYPE))


def causal_conv(batch: Batch, x: Tensor, weight: Tensor, state: ConvState) -> Tensor:
    """x [M, C], weight [C, W] float32 -> [M, C]. At a block boundary a segment reads its slot, else its lane."""
    out, kept = torch.empty(x.shape, dtype=x.dtype), state.shape.width - 1
    for view in segment_views(batch):
        rows = slice(view.row, view.row + view.end - view.start)
        before = state.rows[view.lane] if view.start % BLOCK else state.history[view.state]
        inputs = torch.cat([before, x[rows]])
        out[rows] = functional.silu(_products(inputs.float(), weight)).to(x.dtype)
        for boundary, slot in view.writes:
            first = boundary - view.start
            state.history[slot] = inputs[first : first + kept]
        state.rows[view.lane] = inputs[view.end - view.start :]
    return out


def _products(inputs: Tensor, weight: Tensor) -> Tensor:
    """inputs [n+W-1, C] float32 -> [n, C]."""
    if inputs.shape[0] == weight.shape[1]:
        return (inputs.T * weight).sum(dim=1)[None]
    return functional.conv1d(inputs.T[None], weight[:, None], groups=weight.shape[0])[0].T
