"""Rows computed alone, in a chunk whose earlier rows a lane keeps: see triton_rows."""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from isotherm.kernels.gated_delta.triton_rows import CHUNK, HALF, prepared


@triton.jit
def _first(a, b):
    return a


@triton.jit
def _any_row(x):
    """One row of a tile whose rows are equal."""
    return tl.reduce(x, 0, _first)


@triton.jit
def _pack_head(
    source, place, lane, t, key, qkv, b, a, decay, dt_bias, q, k, beta, g, lane_k, lane_v, lane_beta,
    qkv_stride, b_stride, a_stride, scale,
    HK: tl.constexpr, HV: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr, BK: tl.constexpr, BH: tl.constexpr,
    EPSILON: tl.constexpr,
):  # fmt: skip
    """What pack_rows does for a lone row, of one key head and its value heads."""
    i_k, i_d, i_h, i_e = tl.arange(0, BK), tl.arange(0, DK), tl.arange(0, BH), tl.arange(0, DV)
    b_q, b_k, b_beta, b_g = prepared(
        source, qkv, b, a, decay, dt_bias, qkv_stride, b_stride, a_stride, scale, i_k, i_d, i_h,
        HK, HV, DK, EPSILON, q.dtype.element_ty,
    )  # fmt: skip
    own, values = (i_k == key)[:, None], (i_h // (HV // HK) == key) & (i_h < HV)
    p = place * HK * DK + i_k[:, None] * DK + i_d[None, :]
    tl.store(q + p, b_q, mask=own)
    tl.store(k + p, b_k, mask=own)
    tl.store(lane_k + ((lane * HK + i_k[:, None]) * CHUNK + t) * DK + i_d[None, :], b_k, mask=own)
    tl.store(beta + place * HV + i_h, b_beta, mask=values)
    tl.store(g + place * HV + i_h, b_g, mask=values)
    tl.store(lane_beta + (lane * HV + i_h) * CHUNK + t, b_beta, mask=values)
    p_v = qkv + source * qkv_stride + 2 * HK * DK + i_h[:, None] * DV + i_e[None, :]
    b_v = tl.load(p_v, mask=values[:, None], other=0.0)
    tl.store(lane_v + ((lane * HV + i_h[:, None]) * CHUNK + t) * DV + i_e[None, :], b_v, mask=values[:, None])


@triton.jit
def lone_rows(
    spans,
    places,
    qkv,
    b,
    a,
    decay,
    dt_bias,
    q,
    k,
    beta,
    g,
    scratch,
    off,
    diagonal,
    mixed,
    lane_k,
    lane_v,
    lane_beta,
    lane_g,
    lane_d,
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
    GROUP: tl.constexpr,
    LANES: tl.constexpr,
    EPSILON: tl.constexpr,
    PACK: tl.constexpr,
    OVERLAP: tl.constexpr,
):
    """For a segment's rows, one after the other, and a key head: the rows of N and P of its value heads, and of D, kept.

    With PACK the rows' inputs are prepared here first. places: see lone_states.
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
    source = tl.load(places + span * 2).to(tl.int64)
    for _ in range(rows):
        half = t // HALF
        if PACK:
            _pack_head(
                source, place, lane, t, key, qkv, b, a, decay, dt_bias, q, k, beta, g, lane_k, lane_v, lane_beta,
                qkv_stride, b_stride, a_stride, scale, HK, HV, DK, DV, BK, BH, EPSILON,
            )  # fmt: skip
            tl.debug_barrier()
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
            b_aj = tl.load(scratch + (place * HV + head) * HALF + j, mask=earlier, other=0.0)
            acc = tl.fma(-b_aj, tl.load(p_d + j * HALF, mask=earlier, other=0.0), acc)
        tl.store(p_d + t % HALF * HALF, acc, mask=live)
        tl.store(
            diagonal + (place * HV + head) * HALF + c,
            tl.where(c < t % HALF, acc, 0.0).to(off.dtype.element_ty),
            mask=live,
        )
        tl.debug_barrier()
        place += 1
        source += 1
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
