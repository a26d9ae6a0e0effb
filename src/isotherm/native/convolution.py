"""The short convolution by torch: conv1d for a segment, a sum of products for a single token and for each of a verify."""

import torch
from torch import Tensor
from torch.nn import functional

from isotherm.core.constants import BLOCK
from isotherm.kernels.batch import Batch
from isotherm.kernels.segments import segment_views
from isotherm.kernels.state import ConvShape, ConvState
from isotherm.native.linear import DTYPE


def conv_state(shape: ConvShape, slots: int, lanes: int, drafts: int = 0) -> ConvState:
    """history [slots, W-1, C]; rows [lanes, R, C], R = W-1 + drafts: a live sequence's input at position p is in row p % R.

    These are the last inputs before wherever it is, and before any place to which rejected drafts may take it back. Slot 0 is
    zeros.
    """
    history = torch.empty(slots, shape.width - 1, shape.channels, dtype=DTYPE)
    history[0].zero_()
    return ConvState(shape, history, torch.empty(lanes, shape.width - 1 + drafts, shape.channels, dtype=DTYPE))


def causal_conv(batch: Batch, x: Tensor, weight: Tensor, state: ConvState) -> Tensor:
    """x [M, C], weight [C, W] float32 -> [M, C]. At a block boundary a segment reads its slot, else its lane."""
    out, kept, ring = torch.empty(x.shape, dtype=x.dtype), state.shape.width - 1, state.rows.shape[1]
    for view, drafts in zip(segment_views(batch), batch.drafts or (0,) * batch.segments, strict=True):
        rows = slice(view.row, view.row + view.end - view.start)
        past = torch.arange(view.start - kept, view.start) % ring
        before = state.rows[view.lane, past] if view.start % BLOCK else state.history[view.state]
        inputs = torch.cat([before, x[rows]])
        products = _each_alone if drafts else _products
        out[rows] = functional.silu(products(inputs.float(), weight)).to(x.dtype)
        for boundary, slot in view.writes:
            first = boundary - view.start
            state.history[slot] = inputs[first : first + kept]
        last = inputs[-ring:]
        state.rows[view.lane, torch.arange(view.end - len(last), view.end) % ring] = last
    return out


def _products(inputs: Tensor, weight: Tensor) -> Tensor:
    """inputs [n+W-1, C] float32 -> [n, C]."""
    if inputs.shape[0] == weight.shape[1]:
        return (inputs.T * weight).sum(dim=1)[None]
    return functional.conv1d(inputs.T[None], weight[:, None], groups=weight.shape[0])[0].T


def _each_alone(inputs: Tensor, weight: Tensor) -> Tensor:
    """The same, every row as decode computes it."""
    width = weight.shape[1]
    return torch.cat([_products(inputs[i : i + width], weight) for i in range(inputs.shape[0] - width + 1)])
