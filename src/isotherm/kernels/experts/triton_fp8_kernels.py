"""Grouped expert products with block-FP8 weights on the GPU, in the way of isotherm.kernels.linear.triton_fp8_kernels."""

import triton
import triton.language as tl

from isotherm.kernels.gpu.triton_kernels import take_turn
from isotherm.kernels.linear.triton_fp8_kernels import dequantize


@triton.jit
def grouped_product_of_fp8(
    x, w, scales, rows, tiles, out, n, k, x_stride,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SHARED: tl.constexpr, GATHER: tl.constexpr, EVEN_K: tl.constexpr,
    OVERLAP: tl.constexpr,
):  # fmt: skip
    """A tile of pairs (tiles [T, 4]: expert, first, end) by BN columns a program, transposed. Pairs beyond its end are zeros.

    w [experts, n, k] FP8; scales [experts, ceil(n / SHARED), ceil(k / 128)]; BK divides 128.
    """
    take_turn(OVERLAP)
    t, column = tl.program_id(0) // tl.cdiv(n, BN), tl.program_id(0) % tl.cdiv(n, BN)
    expert = tl.load(tiles + t * 4).to(tl.int64)
    if expert >= 0:
        pair, end = tl.load(tiles + t * 4 + 1) + tl.arange(0, BM), tl.load(tiles + t * 4 + 2)
        live = pair < end
        row = tl.load(rows + pair, mask=live, other=0) if GATHER else pair
        i_n, i_k = column * BN + tl.arange(0, BN), tl.arange(0, BK)
        p_x = x + row.to(tl.int64)[None, :] * x_stride + i_k[:, None]
        p_w = w + (expert * n + i_n % n)[:, None] * k + i_k[None, :]
        p_scale = scales + (expert * tl.cdiv(n, SHARED) + i_n % n // SHARED) * tl.cdiv(k, 128)
        acc = tl.zeros((BN, BM), tl.float32)
        for k0 in range(0, k, BK):
            if EVEN_K:
                b_x = tl.load(p_x, mask=live[None, :], other=0.0)
                b_w = tl.load(p_w)
            else:
                inside = k0 + i_k < k
                b_x = tl.load(p_x, mask=live[None, :] & inside[:, None], other=0.0)
                b_w = tl.load(p_w, mask=inside[None, :], other=0.0)
            acc = tl.dot(dequantize(b_w, tl.load(p_scale + k0 // 128), b_x), b_x, acc)
            p_x += BK
            p_w += BK
        p_out = out + pair.to(tl.int64)[None, :] * n + i_n[:, None]
        tl.store(p_out, acc.to(out.dtype.element_ty), mask=live[None, :] & (i_n < n)[:, None])
