"""The gated delta rule on the GPU. The law is in the package's docstring; here is where each term is computed.

Rows of a pass are laid out in places: 64 a chunk tile, then one for each row that goes alone. `pack_rows` brings every place's
inputs to the form that is used; after it, chunks that are computed as a whole take

    sum_gates, chunk_rows, invert_halves, chunk_states, keep_rows

and rows that are computed alone, within a chunk whose earlier rows a lane keeps, take

    lone_rows, lone_states, and fold_lanes for lanes that are full.

i counts rows of a chunk, c its columns, h value heads, d key columns, e value columns.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

CHUNK = tl.constexpr(64)
HALF = tl.constexpr(32)


@triton.jit
def _first(a, b):
    return a


@triton.jit
def _any_row(x):
    """One row of a tile whose rows are equal."""
    return tl.reduce(x, 0, _first)


@triton.jit
def _unit(x, scale, EPSILON: tl.constexpr):
    """Rows of x [heads, DK] float32 at length `scale`."""
    return x * (tl.rsqrt(tl.sum(x * x, 1) + EPSILON) * scale)[:, None]


@triton.jit
def pack_rows(
    sources,
    keeps,
    qkv,
    b,
    a,
    decay,
    dt_bias,
    q_out,
    k_out,
    beta_out,
    g_out,
    lane_k,
    lane_v,
    lane_beta,
    qkv_stride,
    b_stride,
    a_stride,
    scale,
    HK: tl.constexpr,
    HV: tl.constexpr,
    DK: tl.constexpr,
    DV: tl.constexpr,
    BK: tl.constexpr,
    BH: tl.constexpr,
    EPSILON: tl.constexpr,
    OVERLAP: tl.constexpr,
):
    """One place a program: q, k at unit length, beta and g. A source >= 0 is a batch row, -1 nothing (zeros), -2-n row n of the
    lanes. keeps >= 0: the lane row that keeps k, v and beta (of a lone row; keep_rows does it for an open chunk)."""
    if OVERLAP:
        gdc_wait()
        gdc_launch_dependents()
    place = tl.program_id(0).to(tl.int64)
    source, keep = tl.load(sources + place).to(tl.int64), tl.load(keeps + place).to(tl.int64)
    i_k, i_d, i_h, i_e = tl.arange(0, BK), tl.arange(0, DK), tl.arange(0, BH), tl.arange(0, DV)
    key = (i_k < HK)[:, None]
    b_q, b_k = tl.zeros((BK, DK), q_out.dtype.element_ty), tl.zeros((BK, DK), q_out.dtype.element_ty)
    b_beta, b_g = tl.zeros((BH,), tl.float32), tl.zeros((BH,), tl.float32)
    if source >= 0:
        p_q = qkv + source * qkv_stride + i_k[:, None] * DK + i_d[None, :]
        b_q = _unit(tl.load(p_q, mask=key, other=0.0).to(tl.float32), scale, EPSILON).to(q_out.dtype.element_ty)
        b_k = _unit(tl.load(p_q + HK * DK, mask=key, other=0.0).to(tl.float32), 1.0, EPSILON).to(q_out.dtype.element_ty)
        b_beta = tl.sigmoid(tl.load(b + source * b_stride + i_h, mask=i_h < HV, other=0.0).to(tl.float32))
        z = tl.load(a + source * a_stride + i_h, mask=i_h < HV, other=0.0).to(tl.float32)
        z += tl.load(dt_bias + i_h, mask=i_h < HV, other=0.0)
        softplus = tl.where(z > 20.0, z, tl.log(1.0 + tl.exp(tl.minimum(z, 20.0))))
        b_g = tl.load(decay + i_h, mask=i_h < HV, other=0.0) * softplus
    elif source < -1:
        lane, row = (-2 - source) // CHUNK, (-2 - source) % CHUNK
        p_k = lane_k + ((lane * HK + i_k[:, None]) * CHUNK + row) * DK + i_d[None, :]
        b_k = tl.load(p_k, mask=key, other=0.0)
        b_beta = tl.load(lane_beta + (lane * HV + i_h) * CHUNK + row, mask=i_h < HV, other=0.0)
    p = place * HK * DK + i_k[:, None] * DK + i_d[None, :]
    tl.store(q_out + p, b_q, mask=key)
    tl.store(k_out + p, b_k, mask=key)
    tl.store(beta_out + place * HV + i_h, b_beta, mask=i_h < HV)
    tl.store(g_out + place * HV + i_h, b_g, mask=i_h < HV)
    if keep >= 0:
        lane, row = keep // CHUNK, keep % CHUNK
        tl.store(lane_k + ((lane * HK + i_k[:, None]) * CHUNK + row) * DK + i_d[None, :], b_k, mask=key)
        tl.store(lane_beta + (lane * HV + i_h) * CHUNK + row, b_beta, mask=i_h < HV)
        value = (i_h < HV)[:, None]
        p_v = qkv + source * qkv_stride + 2 * HK * DK + i_h[:, None] * DV + i_e[None, :]
        b_v = tl.load(p_v, mask=value, other=0.0)
        tl.store(lane_v + ((lane * HV + i_h[:, None]) * CHUNK + row) * DV + i_e[None, :], b_v, mask=value)


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
def advanced(h, b_k, u, b_g, last):
    """The state 64 tokens after h [DK, BV]: exp(G_63) h + sum_j (k_j)^T round(u_j exp(G_63 - G_j))."""
    faded = (u.to(tl.float32) * tl.exp(last - b_g)[:, None]).to(u.dtype)
    return tl.dot(tl.trans(b_k), faded, acc=h * tl.exp(last))


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
    """A segment's chunks in order, for a value head and BV of its columns: outputs, boundary states, and the rows of an open chunk.

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
def lone_rows(
    spans,
    q,
    k,
    beta,
    g,
    scratch,
    off,
    diagonal,
    mixed,
    lane_k,
    lane_g,
    lane_d,
    HK: tl.constexpr,
    HV: tl.constexpr,
    DK: tl.constexpr,
    GROUP: tl.constexpr,
    LANES: tl.constexpr,
    OVERLAP: tl.constexpr,
):
    """For a segment's rows, one after the other, and a key head: the rows of N and P of its value heads, and of D, kept.

    spans [S, 4]: first place, rows, row of the chunk, lane. off and diagonal [places, HV, 32], mixed [places, HV, 64];
    scratch [places, HV, 32] float32.
    """
    if OVERLAP:
        gdc_wait()
        gdc_launch_dependents()
    span, key = tl.program_id(0), tl.program_id(1)
    place, rows = tl.load(spans + span * 4).to(tl.int64), tl.load(spans + span * 4 + 1)
    t, lane = tl.load(spans + span * 4 + 2), tl.load(spans + span * 4 + 3).to(tl.int64)
    s, i, d, x = tl.arange(0, 16), tl.arange(0, CHUNK), tl.arange(0, DK), tl.arange(0, LANES)
    n, c = x // HALF, x % HALF
    for _ in range(rows):
        half = t // HALF
        p = place * HK * DK + key * DK + s[:, None] * 0 + d[None, :]
        past = tl.load(
            lane_k + ((lane * HK + key) * CHUNK + i[:, None]) * DK + d[None, :], mask=(i <= t)[:, None], other=0.0
        )
        kk = _any_row(tl.dot(tl.load(k + p), tl.trans(past)))
        qk = _any_row(tl.dot(tl.load(q + p), tl.trans(past)))
        for m in tl.static_range(GROUP):
            head = key * GROUP + m
            p_g = lane_g + (lane * HV + head) * CHUNK
            total = tl.load(p_g + t - 1, mask=t > 0, other=0.0) + tl.load(g + place * HV + head)
            b_g = tl.where(i == t, total, tl.load(p_g + i, mask=i < t, other=0.0))
            grown = tl.exp(total - b_g)
            b_a = tl.where(i < t, (kk * tl.load(beta + place * HV + head)) * grown, 0.0)
            b_p = tl.where(i <= t, qk * grown, 0.0)
            tl.store(p_g + i, b_g, mask=i == t)
            tl.store(mixed + (place * HV + head) * CHUNK + i, b_p.to(off.dtype.element_ty))
            before = tl.where(i < half * HALF, -b_a, 0.0).to(off.dtype.element_ty)
            tl.store(off + (place * HV + head) * HALF + i, before, mask=i < HALF)
            tl.store(scratch + (place * HV + head) * HALF + i - half * HALF, b_a, mask=i // HALF == half)
        tl.debug_barrier()
        live = n < GROUP
        head = key * GROUP + n
        p_d = lane_d + ((lane * HV + head) * 2 + half) * HALF * HALF + c
        acc = tl.where(c == t % HALF, 1.0, 0.0)
        for j in tl.static_range(31):
            earlier = live & (j < t % HALF)
            a = tl.load(scratch + (place * HV + head) * HALF + j, mask=earlier, other=0.0)
            acc = tl.fma(-a, tl.load(p_d + j * HALF, mask=earlier, other=0.0), acc)
        tl.store(p_d + t % HALF * HALF, acc, mask=live)
        tl.store(
            diagonal + (place * HV + head) * HALF + c,
            tl.where(c < t % HALF, acc, 0.0).to(off.dtype.element_ty),
            mask=live,
        )
        tl.debug_barrier()
        place += 1
        t += 1


@triton.jit
def lone_states(
    spans,
    places,
    qkv,
    q,
    k,
    beta,
    off,
    diagonal,
    mixed,
    state,
    lane_h,
    lane_g,
    lane_x,
    lane_u,
    out,
    qkv_stride,
    HK: tl.constexpr,
    HV: tl.constexpr,
    DK: tl.constexpr,
    DV: tl.constexpr,
    BV: tl.constexpr,
    OVERLAP: tl.constexpr,
):
    """A segment's rows, one after the other, for a value head and BV of its columns: outputs, and x and u, kept.

    places [S, 2]: the batch row of the first one, and the slot to read where that row begins a chunk.
    """
    span, head, column = tl.program_id(0) // HV, tl.program_id(0) % HV, tl.program_id(1)
    place, rows = tl.load(spans + span * 4).to(tl.int64), tl.load(spans + span * 4 + 1)
    t, lane = tl.load(spans + span * 4 + 2), tl.load(spans + span * 4 + 3).to(tl.int64)
    row, slot = tl.load(places + span * 2).to(tl.int64), tl.load(places + span * 2 + 1).to(tl.int64)
    s, i, d, e = tl.arange(0, 16), tl.arange(0, CHUNK), tl.arange(0, DK), column * BV + tl.arange(0, BV)
    j = tl.arange(0, HALF)
    p_h = lane_h + (lane * HV + head) * DK * DV + d[:, None] * DV + e[None, :]
    if t == 0:
        h16 = tl.load(state + (slot * HV + head) * DK * DV + d[:, None] * DV + e[None, :]).to(k.dtype.element_ty)
        tl.store(p_h, h16)
    else:
        h16 = tl.load(p_h)
    p_x = lane_x + (lane * HV + head) * CHUNK * DV + e[None, :]
    p_u = lane_u + (lane * HV + head) * CHUNK * DV + e[None, :]
    first = (s == 0)[:, None]
    if OVERLAP:
        gdc_wait()
        gdc_launch_dependents()
    for _ in range(rows):
        p = place * HK * DK + head // (HV // HK) * DK + s[:, None] * 0 + d[None, :]
        at = (place * HV + head) + s[:, None] * 0
        grown = tl.exp(tl.load(lane_g + (lane * HV + head) * CHUNK + t))
        b_beta = tl.load(beta + place * HV + head)
        b_v = tl.load(qkv + row * qkv_stride + 2 * HK * DK + head * DV + s[:, None] * 0 + e[None, :]).to(tl.float32)
        b_off = tl.load(off + at * HALF + j[None, :])
        b_d = tl.load(diagonal + at * HALF + j[None, :])
        b_p = tl.load(mixed + at * CHUNK + i[None, :])
        base = t // HALF * HALF
        past = tl.load(p_u + i[:, None] * DV, mask=(i < t)[:, None], other=0.0)
        u0 = tl.load(p_u + j[:, None] * DV, mask=(j < base)[:, None], other=0.0)
        xs = tl.load(p_x + (base + j)[:, None] * DV, mask=(base + j < t)[:, None], other=0.0)
        rhs = b_beta * (b_v - grown * tl.dot(tl.load(k + p), h16))
        x = tl.dot(b_off, u0, acc=rhs)
        u = tl.dot(b_d, xs, acc=x).to(k.dtype.element_ty)
        past = tl.where((i == t)[:, None], _any_row(u)[None, :], past)
        o = tl.dot(b_p, past, acc=grown * tl.dot(tl.load(q + p), h16))
        tl.store(p_x + t * DV + s[:, None] * 0, x.to(k.dtype.element_ty), mask=first)
        tl.store(p_u + t * DV + s[:, None] * 0, u, mask=first)
        tl.store(out + row * (HV * DV) + head * DV + s[:, None] * 0 + e[None, :], o.to(k.dtype.element_ty), mask=first)
        tl.debug_barrier()
        place += 1
        row += 1
        t += 1


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
    """The state after a lane's 64 rows, for a value head and BV columns. folds [F, 4]: lane, slot to read, slot to write, unused."""
    if OVERLAP:
        gdc_wait()
        gdc_launch_dependents()
    fold, head, column = tl.program_id(0) // HV, tl.program_id(0) % HV, tl.program_id(1)
    lane, slot = tl.load(folds + fold * 4).to(tl.int64), tl.load(folds + fold * 4 + 1).to(tl.int64)
    written = tl.load(folds + fold * 4 + 2).to(tl.int64)
    i, d, e = tl.arange(0, CHUNK), tl.arange(0, DK), column * BV + tl.arange(0, BV)
    i_state = d[:, None] * DV + e[None, :]
    h = tl.load(state + (slot * HV + head) * DK * DV + i_state)
    b_k = tl.load(lane_k + ((lane * HK + head // (HV // HK)) * CHUNK + i[:, None]) * DK + d[None, :])
    u = tl.load(lane_u + ((lane * HV + head) * CHUNK + i[:, None]) * DV + e[None, :])
    b_g = tl.load(lane_g + (lane * HV + head) * CHUNK + i)
    last = tl.load(lane_g + (lane * HV + head) * CHUNK + CHUNK - 1)
    tl.store(state + (written * HV + head) * DK * DV + i_state, advanced(h, b_k, u, b_g, last))
