"""The gated delta rule on the GPU. The law is in the package's docstring; here is where each term is computed.

Rows of a pass are laid out in places: 64 a chunk tile, then one for each row that goes alone. `pack_rows`, here, brings
every place's inputs to the form that is used (`prepared`); after it, chunks that are computed as a whole take (triton_chunks)

    sum_gates, chunk_rows, invert_halves, chunk_states, keep_rows

and rows that are computed alone, within a chunk whose earlier rows a lane keeps, take (triton_lone)

    lone_rows, lone_states, and fold_lanes for lanes that are full.

Where all rows are alone, lone_rows prepares them itself and pack_rows is left out.

i counts rows of a chunk, c its columns, h value heads, d key columns, e value columns.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

CHUNK = tl.constexpr(64)
HALF = tl.constexpr(32)


@triton.jit
def _unit(x, scale, EPSILON: tl.constexpr):
    """Rows of x [heads, DK] float32 at length `scale`."""
    return x * (tl.rsqrt(tl.sum(x * x, 1) + EPSILON) * scale)[:, None]


@triton.jit
def prepared(
    source, qkv, b, a, decay, dt_bias, qkv_stride, b_stride, a_stride, scale, i_k, i_d, i_h,
    HK: tl.constexpr, HV: tl.constexpr, DK: tl.constexpr, EPSILON: tl.constexpr, DTYPE: tl.constexpr,
):  # fmt: skip
    """q, k [BK, DK] at unit length, beta and g [BH] of the batch row `source`. One tile of all heads, whatever is used of it: the
    order of its sums follows the tile."""
    key = (i_k < HK)[:, None]
    p_q = qkv + source * qkv_stride + i_k[:, None] * DK + i_d[None, :]
    b_q = _unit(tl.load(p_q, mask=key, other=0.0).to(tl.float32), scale, EPSILON).to(DTYPE)
    b_k = _unit(tl.load(p_q + HK * DK, mask=key, other=0.0).to(tl.float32), 1.0, EPSILON).to(DTYPE)
    b_beta = tl.sigmoid(tl.load(b + source * b_stride + i_h, mask=i_h < HV, other=0.0).to(tl.float32))
    z = tl.load(a + source * a_stride + i_h, mask=i_h < HV, other=0.0).to(tl.float32)
    z += tl.load(dt_bias + i_h, mask=i_h < HV, other=0.0)
    softplus = tl.where(z > 20.0, z, tl.log(1.0 + tl.exp(tl.minimum(z, 20.0))))
    return b_q, b_k, b_beta, tl.load(decay + i_h, mask=i_h < HV, other=0.0) * softplus


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
        b_q, b_k, b_beta, b_g = prepared(
            source, qkv, b, a, decay, dt_bias, qkv_stride, b_stride, a_stride, scale, i_k, i_d, i_h,
            HK, HV, DK, EPSILON, q_out.dtype.element_ty,
        )  # fmt: skip
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
def advanced(h, b_k, u, b_g, last):
    """The state 64 tokens after h [DK, BV]: exp(G_63) h + sum_j (k_j)^T round(u_j exp(G_63 - G_j))."""
    faded = (u.to(tl.float32) * tl.exp(last - b_g)[:, None]).to(u.dtype)
    return tl.dot(tl.trans(b_k), faded, acc=h * tl.exp(last))
