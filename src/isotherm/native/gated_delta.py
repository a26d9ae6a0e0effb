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


def delta_state(shape: DeltaShape, slots: int, lanes: int, drafts: int = 0) -> DeltaState:
    """state [slots, Hv, DK, DV] and, for live sequences, rows["state"] [lanes, R, Hv, DK, DV], R = 1 + drafts; float32.

    A live sequence's state at position p is in row p % R: where it is, and wherever rejected drafts may take it back to.
    """
    size = (shape.value_heads, shape.key_dim, shape.value_dim)
    state = torch.empty(slots, *size)
    state[0].zero_()
    return DeltaState(shape, state, {"state": torch.empty(lanes, 1 + drafts, *size)})


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
    ring = live.shape[1]
    for view in views:
        if view.start % BLOCK == 0:
            live[view.lane, view.start % ring] = state.state[view.state]
    singles = [view for view in views if view.end - view.start == 1]
    if singles:
        rows, lanes = [view.row for view in singles], [view.lane for view in singles]
        before, after = [view.start % ring for view in singles], [view.end % ring for view in singles]
        out[rows], live[lanes, after] = step(inputs.rows(rows), live[lanes, before])
        for view in singles:
            _save(view, view.end, live[view.lane, view.end % ring], state)
    nothing = (None,) * len(views)
    for view, replay, drafts in zip(views, batch.replays or nothing, batch.drafts or nothing, strict=True):
        if drafts:
            _verify(view, inputs, state, out)
        elif view.end - view.start > 1:
            _segment(view, inputs, state, out, _sequential_until(view, replay, replay_kernel))
    return out.reshape(out.shape[0], -1).to(qkv.dtype)


def _sequential_until(view: SegmentView, replay: Replay | None, replay_kernel: ReplayKernel) -> int:
    """The position up to which a segment of several tokens runs token by token."""
    if replay is None or replay_kernel == "chunked":
        return view.start
    return min(max(view.start, replay.until), view.end)


def _verify(view: SegmentView, inputs: Inputs, state: DeltaState, out: Tensor) -> None:
    """Token by token, as decode. The lane keeps the state after each: which of them stand is not known yet."""
    live, rows = state.rows["state"][view.lane], slice(view.row, view.row + view.end - view.start)
    positions = range(view.start + 1, view.end + 1)
    before = live[view.start % len(live)].clone()
    out[rows], _, states = recurrent(inputs.rows(rows), before, [position - view.start for position in positions])
    for position, after in zip(positions, states, strict=True):
        live[position % len(live)] = after
        _save(view, position, after, state)


def _segment(view: SegmentView, inputs: Inputs, state: DeltaState, out: Tensor, switch: int) -> None:
    """Token by token to `switch`, in chunks counted from there to the end."""
    lane = state.rows["state"][view.lane]
    live = lane[view.start % len(lane)]
    for first, last, kernel in ((view.start, switch, recurrent), (switch, view.end, chunked)):
        if first == last:
            continue
        rows = slice(view.row + first - view.start, view.row + last - view.start)
        inside = [boundary for boundary, _ in view.writes if first < boundary < last]
        out[rows], after, states = kernel(inputs.rows(rows), live, [boundary - first for boundary in inside])
        live = lane[last % len(lane)]
        live.copy_(after)
        for boundary, saved in zip(inside, states, strict=True):
            _save(view, boundary, saved, state)
        _save(view, last, live, state)


def _save(view: SegmentView, boundary: int, saved: Tensor, state: DeltaState) -> None:
    for position, slot in view.writes:
        if position == boundary:
            state.state[slot] = saved
