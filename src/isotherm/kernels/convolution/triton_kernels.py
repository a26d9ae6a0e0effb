"""The convolution on the GPU: one chain an output over the taps, oldest first, whatever program computes it.

An input at position p of a segment is in the pass (p >= start), in the lane (since the last boundary) or in the slot's history.
"""

import triton
import triton.language as tl

from isotherm.kernels.activation.triton_kernels import silu
from isotherm.kernels.gpu.triton_kernels import take_turn

BLOCK = tl.constexpr(64)


@triton.jit
def inputs_at(
    position, row, segment, starts, lanes, states, x, history, rows, x_stride, c, live, channels, BEFORE: tl.constexpr
):
    """The inputs at `position` of the segments of `row`, which is the place of the segment's first row in the pass. Positions,
    segments and rows are [BM, 1], c is [1, BC]. BEFORE: the inputs that a slot holds."""
    start = tl.load(starts + segment)
    base = start // BLOCK * BLOCK
    lane, slot = tl.load(lanes + segment).to(tl.int64), tl.load(states + segment).to(tl.int64)
    own = live & (position >= start)
    kept = live & (position < start) & (position >= base)
    before = live & (position < base)
    b_x = tl.load(x + (row + position - start).to(tl.int64) * x_stride + c, mask=own, other=0.0)
    b_lane = tl.load(rows + (lane * BLOCK + position % BLOCK) * channels + c, mask=kept, other=0.0)
    b_history = tl.load(history + (slot * BEFORE + position - base + BEFORE) * channels + c, mask=before, other=0.0)
    return tl.where(position >= start, b_x, tl.where(position >= base, b_lane, b_history))


@triton.jit(do_not_specialize=["count"])
def causal_conv(
    positions, segments, keeps, row_offsets, starts, lanes, states, x, weight, history, rows, out, x_stride, count, channels,
    WIDTH: tl.constexpr, DILATION: tl.constexpr, BM: tl.constexpr, BC: tl.constexpr, OVERLAP: tl.constexpr,
):  # fmt: skip
    """Outputs of BM rows and BC channels, and their inputs into the lane where keeps says so."""
    take_turn(OVERLAP)
    i = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    c = tl.program_id(1) * BC + tl.arange(0, BC)[None, :]
    real = i < count
    live = real & (c < channels)
    position, segment = tl.load(positions + i, mask=real, other=0), tl.load(segments + i, mask=real, other=0)
    row = tl.load(row_offsets + segment)
    total = tl.zeros((BM, BC), tl.float32)
    for tap in tl.static_range(WIDTH):
        b = inputs_at(
            position - (WIDTH - 1 - tap) * DILATION, row, segment, starts, lanes, states, x, history, rows, x_stride, c, live,
            channels, (WIDTH - 1) * DILATION,
        )  # fmt: skip
        w = tl.broadcast_to(tl.load(weight + c * WIDTH + tap, mask=c < channels, other=0.0), (BM, BC))
        total = tl.fma(w, b.to(tl.float32), total)
    tl.store(out + i.to(tl.int64) * channels + c, silu(total).to(out.dtype.element_ty), mask=live)
    keep = tl.load(keeps + i, mask=real, other=-1).to(tl.int64)
    own = tl.load(x + i.to(tl.int64) * x_stride + c, mask=live, other=0.0)
    tl.store(rows + keep * channels + c, own, mask=live & (keep >= 0))


@triton.jit
def keep_history(
    writes, write_positions, write_slots, row_offsets, starts, lanes, states, x, history, rows, x_stride, channels,
    BEFORE: tl.constexpr, BB: tl.constexpr, BC: tl.constexpr, OVERLAP: tl.constexpr,
):  # fmt: skip
    """The BEFORE inputs before a boundary into the slot of a write. Runs before the lane is overwritten (keep_late)."""
    take_turn(OVERLAP)
    segment, n = tl.load(writes + tl.program_id(0) * 2), tl.load(writes + tl.program_id(0) * 2 + 1)
    if segment >= 0:
        j, c = tl.arange(0, BB)[:, None], tl.program_id(1) * BC + tl.arange(0, BC)[None, :]
        live = (j < BEFORE) & (c < channels)
        position = tl.load(write_positions + n) - BEFORE + j
        row = tl.load(row_offsets + segment)
        b = inputs_at(
            position, row, segment, starts, lanes, states, x, history, rows, x_stride, c, live, channels, BEFORE
        )
        slot = tl.load(write_slots + n).to(tl.int64)
        tl.store(history + (slot * BEFORE + j) * channels + c, b, mask=live)


@triton.jit
def keep_late(late, x, rows, x_stride, channels, BC: tl.constexpr, OVERLAP: tl.constexpr):
    """One row's inputs into the lane, after everything that reads what it overwrites. late [L, 2]: row, lane row."""
    take_turn(OVERLAP)
    row, place = (
        tl.load(late + tl.program_id(0) * 2).to(tl.int64),
        tl.load(late + tl.program_id(0) * 2 + 1).to(tl.int64),
    )
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    tl.store(rows + place * channels + c, tl.load(x + row * x_stride + c, mask=c < channels), mask=c < channels)
