"""The gated delta rule by torch: in chunks for several tokens, token by token for one, its state live in the lane."""

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK
from isotherm.core.numerics import ReplayKernel
from isotherm.core.plan import Replay
from isotherm.kernels.batch import Batch
from isotherm.kernels.segments import SegmentView, segment_views
from isotherm.kernels.state import DeltaShape, DeltaState
from isotherm.native.chunked import chunked
from isotherm.native.delta_inputs import Inputs, inputs_of
from isotherm.native.recurrent import recurrent, step


def delta_state(shape: DeltaShape, slots: int, lanes: int) -> DeltaState:
    """state [slots, Hv, DK, DV] and, at a live sequence's own position, rows["state"] [lanes, Hv, DK, DV]; float32."""
    size = (shape.value_heads, shape.key_dim, shape.value_dim)
    state = torch.empty(slots, *size)
    state[0].zero_()
    return DeltaState(shape, state, {"state": torch.empty(lanes, *size)})


def gated_delta(
    batch: Batch,
    qkv: Tensor,
    b: Tensor,
    a: Tensor,
    decay: Tensor,
    dt_bias: Tensor,
    state: DeltaState,
    replay_kernel: ReplayKernel,
) -> Tensor:
    """-> [M, Hv*DV]. A segment at a block boundary reads its slot, which is a copy of what its lane holds or would hold."""
    inputs = inputs_of(qkv, b, a, decay, dt_bias, state.shape)
    out, live, views = torch.empty_like(inputs.v), state.rows["state"], list(segment_views(batch))
    for view in views:
        if view.start % BLOCK == 0:
            live[view.lane] = state.state[view.state]
    singles = [view for view in views if view.end - view.start == 1]
    if singles:
        rows, lanes = [view.row for view in singles], [view.lane for view in singles]
        out[rows], live[lanes] = step(inputs.rows(rows), live[lanes])
        for view in singles:
            _save(view, view.end, live[view.lane], state)
    for view, replay in zip(views, batch.replays or (None,) * len(views), strict=True):
        if view.end - view.start > 1:
            _segment(view, inputs, state, out, _sequential_until(view, replay, replay_kernel))
    return out.reshape(out.shape[0], -1).to(qkv.dtype)


def _sequential_until(view: SegmentView, replay: Replay | None, replay_kernel: ReplayKernel) -> int:
    """The position up to which a segment of several tokens runs token by token."""
    if replay is None or replay_kernel == "chunked":
        return view.start
    return min(max(view.start, replay.until), view.end)


def _segment(view: SegmentView, inputs: Inputs, state: DeltaState, out: Tensor, switch: int) -> None:
    """Token by token to `switch`, in chunks counted from there to the end."""
    live = state.rows["state"][view.lane]
    for first, last, kernel in ((view.start, switch, recurrent), (switch, view.end, chunked)):
        if first == last:
            continue
        rows = slice(view.row + first - view.start, view.row + last - view.start)
        inside = [boundary for boundary, _ in view.writes if first < boundary < last]
        out[rows], after, states = kernel(inputs.rows(rows), live, [boundary - first for boundary in inside])
        live.copy_(after)
        for boundary, saved in zip(inside, states, strict=True):
            _save(view, boundary, saved, state)
        _save(view, last, live, state)


def _save(view: SegmentView, boundary: int, saved: Tensor, state: DeltaState) -> None:
    for position, slot in view.writes:
        if position == boundary:
            state.state[slot] = saved
