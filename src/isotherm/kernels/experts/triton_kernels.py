"""Grouped expert products on the GPU: one accumulator an output over ascending k in every tile, as in isotherm.kernels.linear."""

import triton
import triton.language as tl

from isotherm.kernels.gpu.triton_kernels import take_turn


@triton.jit
def grouped_product(
    x, w, rows, tiles, out, n, k, x_stride,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GATHER: tl.constexpr, EVEN_K: tl.constexpr, OVERLAP: tl.constexpr,
):  # fmt: skip
    """A tile of pairs (tiles [T, 4]: expert, first, end) by BN columns a program. Pairs beyond its end are zeros."""
    take_turn(OVERLAP)
    t, column = tl.program_id(0) // tl.cdiv(n, BN), tl.program_id(0) % tl.cdiv(n, BN)
    expert = tl.load(tiles + t * 4).to(tl.int64)
    if expert >= 0:
        pair, end = tl.load(tiles + t * 4 + 1) + tl.arange(0, BM), tl.load(tiles + t * 4 + 2)
        live = pair < end
        row = tl.load(rows + pair, mask=live, other=0) if GATHER else pair
        i_n, i_k = column * BN + tl.arange(0, BN), tl.arange(0, BK)
        p_x = x + row.to(tl.int64)[:, None] * x_stride + i_k[None, :]
        p_w = w + (expert * n + i_n % n)[None, :] * k + i_k[:, None]
        acc = tl.zeros((BM, BN), tl.float32)
        for k0 in range(0, k, BK):
            if EVEN_K:
                b_x = tl.load(p_x, mask=live[:, None], other=0.0)
                b_w = tl.load(p_w)
            else:
                inside = k0 + i_k < k
                b_x = tl.load(p_x, mask=live[:, None] & inside[None, :], other=0.0)
                b_w = tl.load(p_w, mask=inside[:, None], other=0.0)
            acc = tl.dot(b_x, b_w, acc)
            p_x += BK
            p_w += BK
        p_out = out + pair.to(tl.int64)[:, None] * n + i_n[None, :]
        tl.store(p_out, acc.to(out.dtype.element_ty), mask=live[:, None] & (i_n < n)[None, :])
