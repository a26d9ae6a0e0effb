"""Chunks computed whole: see triton_rows."""

import triton
import triton.language as tl

from isotherm.kernels.gated_delta.triton_rows import CHUNK, HALF, advanced


@triton.jit
def sum_gates(tiles, g, lane_g, sums, HV: tl.constexpr, BH: tl.constexpr):
    """sums [T, HV, 64]: G_i = G_{i-1} + g_i in sequence; rows that a lane holds are taken from it."""
    tile = tl.program_id(0).to(tl.int64)
    low = tl.load(tiles + tile * 8 + 2)
    lane = tl.load(tiles + tile * 8 + 4).to(tl.int64)
    i_h = tl.arange(0, BH)
    live = i_h < HV
    terms = ()
    for i in tl.static_range(64):  # all loads before the first store, so that they run side by side
        old = tl.load(lane_g + (lane * HV + i_h) * CHUNK + i, mask=live & (i < low), other=0.0)
        terms = terms + (tl.where(i < low, old, tl.load(g + (tile * CHUNK + i) * HV + i_h, mask=live, other=0.0)),)
    total = tl.zeros((BH,), tl.float32)
    for i in tl.static_range(64):
        total = tl.where(i < low, terms[i], total + terms[i])
        tl.store(sums + (tile * HV + i_h) * CHUNK + i, total, mask=live)


@triton.jit
def chunk_rows(
    q,
    k,
    beta,
    sums,
    scratch,
    lower,
    mixed,
    HK: tl.constexpr,
    HV: tl.constexpr,
    DK: tl.constexpr,
    GROUP: tl.constexpr,
):
    """For a chunk and a key head: A and P of each of its value heads.

    lower [T, HV, 64, 64] is N: D strictly below the diagonal of each half (invert_halves writes these), -A in the lower
    left quarter, else 0. mixed [T, HV, 64, 64] is P. scratch [T, HV, 2, 32, 32] float32 is A of each half.
    """
    tile, key = tl.program_id(0).to(tl.int64), tl.program_id(1)
    i, c, d = tl.arange(0, CHUNK), tl.arange(0, CHUNK), tl.arange(0, DK)
    p = (tile * CHUNK + i[:, None]) * HK * DK + key * DK + d[None, :]
    b_k = tl.load(k + p)
    kk = tl.dot(b_k, tl.trans(b_k))
    qk = tl.dot(tl.load(q + p), tl.trans(b_k))
    own = (i // HALF)[:, None] == (c // HALF)[None, :]
    below = i[:, None] > c[None, :]
    for n in tl.static_range(GROUP):
        head = tile * HV + key * GROUP + n
        b_g = tl.load(sums + head * CHUNK + i)
        b_beta = tl.load(beta + (tile * CHUNK + i) * HV + key * GROUP + n)
        grown = tl.exp(b_g[:, None] - b_g[None, :])
        b_a = tl.where(below, (kk * b_beta[:, None]) * grown, 0.0)
        b_p = tl.where(i[:, None] >= c[None, :], qk * grown, 0.0)
        square = head * CHUNK * CHUNK + i[:, None] * CHUNK + c[None, :]
        tl.store(mixed + square, b_p.to(lower.dtype.element_ty))
        tl.store(
            lower + square, (-b_a).to(lower.dtype.element_ty), mask=below & (i >= HALF)[:, None] & (c < HALF)[None, :]
        )
        tl.store(
            lower + square,
            tl.zeros((CHUNK, CHUNK), lower.dtype.element_ty),
            mask=(i < HALF)[:, None] & (c >= HALF)[None, :],
        )
        half = head * 2 * HALF * HALF + (i // HALF * HALF * HALF + i % HALF * HALF)[:, None] + (c % HALF)[None, :]
        tl.store(scratch + half, b_a, mask=own)


@triton.jit
def invert_halves(tiles, scratch, lower, lane_d, HV: tl.constexpr):
    """D of one half of a chunk and value head, a column a lane: D_rc = e_rc - sum_j A_rj D_jc, one chain over ascending j < r."""
    head, which = tl.program_id(0).to(tl.int64) // 2, tl.program_id(0) % 2
    tile = head // HV
    high, lane = tl.load(tiles + tile * 8 + 3), tl.load(tiles + tile * 8 + 4).to(tl.int64)
    c = tl.arange(0, HALF)
    p_a = scratch + (head * 2 + which) * HALF * HALF
    p_n = lower + head * CHUNK * CHUNK + which * HALF * (CHUNK + 1) + c
    p_d = lane_d + ((lane * HV + head % HV) * 2 + which) * HALF * HALF + c
    kept = tl.where(high < CHUNK, high - which * HALF, 0)
    column = ()
    for r in tl.static_range(32):
        acc = tl.where(c == r, 1.0, 0.0)
        for j in tl.static_range(r):
            acc = tl.fma(-tl.load(p_a + (r * HALF + j)), column[j], acc)
        column = column + (acc,)
        tl.store(p_n + r * CHUNK, tl.where(c < r, acc, 0.0).to(lower.dtype.element_ty))
        if r < kept:
            tl.store(p_d + r * HALF, acc)


@triton.jit
def chunk_states(
    spans,
    tiles,
    qkv,
    q,
    k,
    beta,
    sums,
    lower,
    mixed,
    state,
    lane_h,
    lane_v,
    lane_x,
    lane_u,
    out,
    qkv_stride,
    HK: tl.constexpr,
    HV: tl.constexpr,
    DK: tl.constexpr,
    DV: tl.constexpr,
    BV: tl.constexpr,
    STAGES: tl.constexpr,
):
    """A segment's chunks in order, for a value head and BV of its columns: outputs, boundary states, rows of an open chunk.

    spans [S, 4]: first tile, end tile, the slot to read. tiles [T, 8]: see isotherm.kernels.gated_delta.plan.
    """
    span, head, column = tl.program_id(0) // HV, tl.program_id(0) % HV, tl.program_id(1)
    first, end = tl.load(spans + span * 4), tl.load(spans + span * 4 + 1)
    slot = tl.load(spans + span * 4 + 2).to(tl.int64)
    row0 = tl.load(tiles + first * 8 + 1)
    low0, lane = tl.load(tiles + first * 8 + 2), tl.load(tiles + first * 8 + 4).to(tl.int64)
    high0 = tl.load(tiles + (end - 1) * 8 + 3)
    i, c, d, e = tl.arange(0, CHUNK), tl.arange(0, CHUNK), tl.arange(0, DK), column * BV + tl.arange(0, BV)
    i_state = d[:, None] * DV + e[None, :]
    i_lane = (lane * HV + head) * CHUNK * DV + i[:, None] * DV + e[None, :]
    h = tl.load(state + (slot * HV + head) * DK * DV + i_state)
    own = (i // HALF)[:, None] == (c // HALF)[None, :]
    top = (i < HALF)[:, None]
    for t in tl.range(first, end, num_stages=STAGES):
        tile = first.to(tl.int64) + (t - first)
        low, high = tl.where(t == first, low0, 0), tl.where(t == end - 1, high0, CHUNK)
        row = (row0 + (t - first) * CHUNK + i).to(tl.int64)
        new = ((i >= low) & (i < high))[:, None]
        p = (tile * CHUNK + i[:, None]) * HK * DK + head // (HV // HK) * DK + d[None, :]
        square = (tile * HV + head) * CHUNK * CHUNK + i[:, None] * CHUNK + c[None, :]
        b_k, b_q = tl.load(k + p), tl.load(q + p)
        b_n, b_p = tl.load(lower + square), tl.load(mixed + square)
        b_v = tl.load(qkv + row[:, None] * qkv_stride + 2 * HK * DK + head * DV + e[None, :], mask=new, other=0.0)
        b_v = tl.where((i < low)[:, None], tl.load(lane_v + i_lane, mask=(i < low)[:, None], other=0.0), b_v)
        b_g, b_beta = tl.load(sums + (tile * HV + head) * CHUNK + i), tl.load(beta + (tile * CHUNK + i) * HV + head)
        last = tl.load(sums + (tile * HV + head) * CHUNK + CHUNK - 1)
        written = tl.load(tiles + t * 8 + 5).to(tl.int64)
        grown = tl.exp(b_g)[:, None]
        h16 = h.to(k.dtype.element_ty)
        rhs = b_beta[:, None] * (b_v.to(tl.float32) - grown * tl.dot(b_k, h16))
        b_d = tl.where(own, b_n, 0.0)
        u0 = tl.dot(b_d, rhs.to(k.dtype.element_ty), acc=rhs).to(k.dtype.element_ty)
        x = tl.dot(tl.where(own, 0.0, b_n), tl.where(top, u0, 0.0), acc=rhs)
        x16 = x.to(k.dtype.element_ty)
        u = tl.dot(b_d, x16, acc=x).to(k.dtype.element_ty)
        o = tl.dot(b_p, u, acc=grown * tl.dot(b_q, h16))
        tl.store(out + row[:, None] * (HV * DV) + head * DV + e[None, :], o.to(k.dtype.element_ty), mask=new)
        if high < CHUNK:
            kept = (i < high)[:, None]
            tl.store(lane_x + i_lane, x16, mask=kept)
            tl.store(lane_u + i_lane, u, mask=kept)
            tl.store(lane_h + (lane * HV + head) * DK * DV + i_state, h16)
        h = advanced(h, b_k, u, b_g, last)
        if written >= 0:
            tl.store(state + (written * HV + head) * DK * DV + i_state, h)
