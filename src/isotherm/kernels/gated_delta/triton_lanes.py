"""What lanes are given by open chunks, and the state that a full lane makes: see triton_rows."""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from isotherm.kernels.gated_delta.triton_rows import CHUNK, advanced


@triton.jit
def keep_rows(
    opened,
    tiles,
    qkv,
    k,
    beta,
    sums,
    lane_k,
    lane_v,
    lane_beta,
    lane_g,
    qkv_stride,
    HK: tl.constexpr,
    HV: tl.constexpr,
    DK: tl.constexpr,
    DV: tl.constexpr,
    BK: tl.constexpr,
    BH: tl.constexpr,
):
    """One new row of an open chunk into its lane. Runs last: the segment's first chunk may read what the lane held before."""
    tile, row = tl.load(opened + tl.program_id(0)).to(tl.int64), tl.program_id(1)
    low, high = tl.load(tiles + tile * 8 + 2), tl.load(tiles + tile * 8 + 3)
    if (row >= low) & (row < high):
        lane, source = tl.load(tiles + tile * 8 + 4).to(tl.int64), tl.load(tiles + tile * 8 + 1).to(tl.int64) + row
        i_k, i_d, i_h, i_e = tl.arange(0, BK), tl.arange(0, DK), tl.arange(0, BH), tl.arange(0, DV)
        key, value, place = (i_k < HK)[:, None], (i_h < HV)[:, None], tile * CHUNK + row
        b_k = tl.load(k + place * HK * DK + i_k[:, None] * DK + i_d[None, :], mask=key)
        tl.store(lane_k + ((lane * HK + i_k[:, None]) * CHUNK + row) * DK + i_d[None, :], b_k, mask=key)
        b_v = tl.load(qkv + source * qkv_stride + 2 * HK * DK + i_h[:, None] * DV + i_e[None, :], mask=value)
        tl.store(lane_v + ((lane * HV + i_h[:, None]) * CHUNK + row) * DV + i_e[None, :], b_v, mask=value)
        at = (lane * HV + i_h) * CHUNK + row
        tl.store(lane_beta + at, tl.load(beta + place * HV + i_h, mask=i_h < HV), mask=i_h < HV)
        tl.store(lane_g + at, tl.load(sums + (tile * HV + i_h) * CHUNK + row, mask=i_h < HV), mask=i_h < HV)


@triton.jit
def fold_lanes(
    folds,
    state,
    lane_k,
    lane_u,
    lane_g,
    HK: tl.constexpr,
    HV: tl.constexpr,
    DK: tl.constexpr,
    DV: tl.constexpr,
    BV: tl.constexpr,
    OVERLAP: tl.constexpr,
):
    """The state after a lane's 64 rows, for a value head and BV columns. folds [F, 4]: lane, slot to read, slot to write, 0.

    A slot to write of -1 is nothing (padding of a recorded pass)."""
    if OVERLAP:
        gdc_wait()
        gdc_launch_dependents()
    fold, head, column = tl.program_id(0) // HV, tl.program_id(0) % HV, tl.program_id(1)
    lane, slot = tl.load(folds + fold * 4).to(tl.int64), tl.load(folds + fold * 4 + 1).to(tl.int64)
    written = tl.load(folds + fold * 4 + 2).to(tl.int64)
    if written >= 0:
        i, d, e = tl.arange(0, CHUNK), tl.arange(0, DK), column * BV + tl.arange(0, BV)
        i_state = d[:, None] * DV + e[None, :]
        h = tl.load(state + (slot * HV + head) * DK * DV + i_state)
        b_k = tl.load(lane_k + ((lane * HK + head // (HV // HK)) * CHUNK + i[:, None]) * DK + d[None, :])
        u = tl.load(lane_u + ((lane * HV + head) * CHUNK + i[:, None]) * DV + e[None, :])
        b_g = tl.load(lane_g + (lane * HV + head) * CHUNK + i)
        last = tl.load(lane_g + (lane * HV + head) * CHUNK + CHUNK - 1)
        tl.store(state + (written * HV + head) * DK * DV + i_state, advanced(h, b_k, u, b_g, last))
