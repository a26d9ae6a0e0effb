"""The shift on the GPU: copies."""

import triton
import triton.language as tl

from isotherm.kernels.convolution.triton_kernels import inputs_at
from isotherm.kernels.gpu.triton_kernels import take_turn


@triton.jit
def shift(
    positions, segments, keeps, row_offsets, starts, lanes, states, x, history, rows, out, x_stride, channels,
    BC: tl.constexpr, OVERLAP: tl.constexpr,
):  # fmt: skip
    """One row a program: the input of the position before, and its own into the lane where keeps says so."""
    take_turn(OVERLAP)
    i, c = tl.program_id(0), tl.program_id(1) * BC + tl.arange(0, BC)
    live = c < channels
    position, segment = tl.load(positions + i), tl.load(segments + i)
    row = tl.load(row_offsets + segment)
    b = inputs_at(position - 1, row, segment, starts, lanes, states, x, history, rows, x_stride, c, live, channels, 1)
    tl.store(out + i.to(tl.int64) * channels + c, b, mask=live)
    keep = tl.load(keeps + i).to(tl.int64)
    if keep >= 0:
        tl.store(rows + keep * channels + c, tl.load(x + i.to(tl.int64) * x_stride + c, mask=live), mask=live)
