"""Products with block-FP8 weights on the GPU, to the bit those of the bfloat16 weights that they stand for.

As the right operand of `mma`, FP8 that is dequantised in registers has another layout than bfloat16, in which other k meet
in one instruction: other bits (docs/gpu.md). So here the weight is the left operand, of `wgmma`: out^T = W x^T, dequantised in
registers (product_of_fp8, at least 64 columns); or it goes through shared memory as bfloat16 (few_rows_of_fp8, few columns).
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from isotherm.kernels.linear.triton_kernels import fetch, finish, place


@triton.jit
def dequantize(q, scale, like):
    """FP8 values of a tile [BN, BK] and their rows' scales [BN] -> weights, rounded to bfloat16, in the type of `like`."""
    return (q.to(tl.float32) * scale[:, None]).to(tl.bfloat16).to(like.dtype)


@triton.jit(do_not_specialize=["rows"])
def product_of_fp8(
    x,
    w,
    scales,
    residual,
    out,
    rows,
    n,
    k,
    x_stride,
    residual_stride,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    SHARED: tl.constexpr,
    EVEN_K: tl.constexpr,
    HAS_RESIDUAL: tl.constexpr,
    OVERLAP: tl.constexpr,
    AHEAD: tl.constexpr,
):
    """One [BN, BM] tile of out^T a program. Rows beyond `rows` are zeros; columns beyond `n` wrap around and are not stored.

    w [n, k] FP8; scales [ceil(n / SHARED), ceil(k / 128)]; BK divides 128. AHEAD: as in product_by_pointer.
    """
    t_m, t_n = place(tl.program_id(0), rows, n, BM, BN, GROUP)
    i_m, i_n, i_k = t_m * BM + tl.arange(0, BM), t_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    p_x = x + i_m.to(tl.int64)[None, :] * x_stride + i_k[:, None]
    p_w = w + (i_n % n).to(tl.int64)[:, None] * k + i_k[None, :]
    p_scale = scales + i_n % n // SHARED * tl.cdiv(k, 128)
    live = (i_m < rows)[None, :]
    acc = tl.zeros((BN, BM), tl.float32)
    if OVERLAP:
        for ahead in tl.static_range(AHEAD):
            fetch(w + (i_n % n).to(tl.int64) * k + ahead * BK, BN, BK, 128)
        gdc_wait()
        gdc_launch_dependents()
    for k0 in range(0, k, BK):
        if EVEN_K:
            b_x = tl.load(p_x, mask=live, other=0.0)
            b_w = tl.load(p_w)
        else:
            b_x = tl.load(p_x, mask=live & (k0 + i_k < k)[:, None], other=0.0)
            b_w = tl.load(p_w, mask=(k0 + i_k < k)[None, :], other=0.0)
        acc = tl.dot(dequantize(b_w, tl.load(p_scale + k0 // 128), b_x), b_x, acc)
        p_x += BK
        p_w += BK
    inside = live & (i_n < n)[:, None]
    if HAS_RESIDUAL:
        acc += tl.load(residual + i_m.to(tl.int64)[None, :] * residual_stride + i_n[:, None], mask=inside).to(
            tl.float32
        )
    tl.store(out + i_m.to(tl.int64)[None, :] * n + i_n[:, None], acc.to(out.dtype.element_ty), mask=inside)


@triton.jit
def hidden(w):
    """w, past which the compiler's choice of layouts does not look: what comes before it keeps a layout of its own."""
    return tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [w], dtype=tl.bfloat16, is_pure=False, pack=2)


@triton.jit(do_not_specialize=["rows"])
def few_rows_of_fp8(
    x,
    w,
    scales,
    residual,
    out,
    rows,
    n,
    k,
    x_stride,
    residual_stride,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    SHARED: tl.constexpr,
    EVEN_K: tl.constexpr,
    HAS_RESIDUAL: tl.constexpr,
    OVERLAP: tl.constexpr,
    AHEAD: tl.constexpr,
    HIDE: tl.constexpr,
):
    """As product_of_fp8, one [BM, BN] tile of out a program. HIDE: False in the interpreter, which knows no assembly."""
    t_m, t_n = place(tl.program_id(0), rows, n, BM, BN, GROUP)
    i_m, i_n, i_k = t_m * BM + tl.arange(0, BM), t_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    p_x = x + i_m.to(tl.int64)[:, None] * x_stride + i_k[None, :]
    p_w = w + (i_n % n).to(tl.int64)[None, :] * k + i_k[:, None]
    p_scale = scales + i_n % n // SHARED * tl.cdiv(k, 128)
    live = (i_m < rows)[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    if OVERLAP:
        for ahead in tl.static_range(AHEAD):
            fetch(w + (i_n % n).to(tl.int64) * k + ahead * BK, BN, BK, 128)
        gdc_wait()
        gdc_launch_dependents()
    for k0 in range(0, k, BK):
        if EVEN_K:
            b_x = tl.load(p_x, mask=live, other=0.0)
            b_w = tl.load(p_w)
        else:
            b_x = tl.load(p_x, mask=live & (k0 + i_k < k)[None, :], other=0.0)
            b_w = tl.load(p_w, mask=(k0 + i_k < k)[:, None], other=0.0)
        weights = (b_w.to(tl.float32) * tl.load(p_scale + k0 // 128)[None, :]).to(tl.bfloat16)
        acc = tl.dot(b_x, (hidden(weights) if HIDE else weights).to(b_x.dtype), acc)
        p_x += BK
        p_w += BK
    finish(acc, residual, out, i_m, i_n, rows, n, residual_stride, HAS_RESIDUAL)
