"""Matrix products on the GPU: one accumulator an output over ascending k, whatever the tile.

The tile kernels differ in how operands reach the multiplier (pointers or tensor descriptors), which is no part of the bits.
`rows` is never specialised: no code may depend on M.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit
def fetch(p_w, BN: tl.constexpr, BK: tl.constexpr, LINE: tl.constexpr):
    """Asks for the L2 cache lines, of LINE weights, of a [BN, BK] tile whose rows begin at p_w [BN]."""
    lines = p_w[:, None] + (tl.arange(0, BK // LINE) * LINE)[None, :]
    tl.inline_asm_elementwise(
        "prefetch.global.L2 [$1]; mov.u32 $0, 0;", "=r,l", [lines], dtype=tl.int32, is_pure=False, pack=1
    )


@triton.jit
def place(pid, rows, n, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    """Row and column tile of program `pid`: GROUP row tiles share their columns, for the sake of the L2 cache."""
    row_tiles = tl.cdiv(rows, BM)
    width = GROUP * tl.cdiv(n, BN)
    first = pid // width * GROUP
    size = tl.minimum(row_tiles - first, GROUP)
    return first + pid % width % size, pid % width // size


@triton.jit
def finish(acc, residual, out, i_m, i_n, rows, n, residual_stride, HAS_RESIDUAL: tl.constexpr):
    """Adds the residual to the finished sums, rounds once, stores what is inside [rows, n]."""
    inside = (i_m < rows)[:, None] & (i_n < n)[None, :]
    if HAS_RESIDUAL:
        acc += tl.load(residual + i_m.to(tl.int64)[:, None] * residual_stride + i_n[None, :], mask=inside).to(
            tl.float32
        )
    tl.store(out + i_m.to(tl.int64)[:, None] * n + i_n[None, :], acc.to(out.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["rows"])
def product_by_pointer(
    x,
    w,
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
    EVEN_K: tl.constexpr,
    HAS_RESIDUAL: tl.constexpr,
    OVERLAP: tl.constexpr,
    AHEAD: tl.constexpr,
):
    """One [BM, BN] tile a program. Rows beyond `rows` are zeros; columns beyond `n` wrap around and are not stored.

    With OVERLAP, the first AHEAD tiles of the weight, which no kernel writes, are fetched before the inputs are waited for.
    """
    t_m, t_n = place(tl.program_id(0), rows, n, BM, BN, GROUP)
    i_m, i_n, i_k = t_m * BM + tl.arange(0, BM), t_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    p_x = x + i_m.to(tl.int64)[:, None] * x_stride + i_k[None, :]
    p_w = w + (i_n % n).to(tl.int64)[None, :] * k + i_k[:, None]
    live = (i_m < rows)[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    if OVERLAP:
        for ahead in tl.static_range(AHEAD):
            fetch(w + (i_n % n).to(tl.int64) * k + ahead * BK, BN, BK, 64)
        gdc_wait()
        gdc_launch_dependents()
    for k0 in range(0, k, BK):
        if EVEN_K:
            b_x = tl.load(p_x, mask=live, other=0.0)
            b_w = tl.load(p_w)
        else:
            b_x = tl.load(p_x, mask=live & (k0 + i_k < k)[None, :], other=0.0)
            b_w = tl.load(p_w, mask=(k0 + i_k < k)[:, None], other=0.0)
        acc = tl.dot(b_x, b_w, acc)
        p_x += BK
        p_w += BK
    finish(acc, residual, out, i_m, i_n, rows, n, residual_stride, HAS_RESIDUAL)


@triton.jit(do_not_specialize=["rows"])
def product_by_descriptor(
    x,
    w,
    w_more,
    residual,
    out,
    rows,
    n,
    k,
    residual_stride,
    BM: tl.constexpr,
    BN: tl.constexpr,
    MORE: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    HAS_RESIDUAL: tl.constexpr,
    OVERLAP: tl.constexpr,
):
    """Tiles `program_id`, `program_id` + programs, ... of a persistent grid. x, w: descriptors of [rows, k] and [n, k], zeros
    beyond their edges. A tile is BN + MORE columns wide, so that it need not be a power of two; w_more reads the last MORE."""
    tiles = tl.cdiv(rows, BM) * tl.cdiv(n, BN + MORE)
    if OVERLAP:
        gdc_wait()
        gdc_launch_dependents()
    for pid in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=MORE == 0):
        t_m, t_n = place(pid, rows, n, BM, BN + MORE, GROUP)
        acc = tl.zeros((BM, BN), tl.float32)
        first = t_n * (BN + MORE)
        if MORE > 0:
            more = tl.zeros((BM, MORE), tl.float32)
            for k0 in range(0, k, BK):
                b_x = x.load([t_m * BM, k0])
                acc = tl.dot(b_x, w.load([first, k0]).T, acc)
                more = tl.dot(b_x, w_more.load([first + BN, k0]).T, more)
        else:
            for k0 in range(0, k, BK):
                acc = tl.dot(x.load([t_m * BM, k0]), w.load([first, k0]).T, acc)
        i_m = t_m * BM + tl.arange(0, BM)
        finish(acc, residual, out, i_m, first + tl.arange(0, BN), rows, n, residual_stride, HAS_RESIDUAL)
        if MORE > 0:
            i_n = first + BN + tl.arange(0, MORE)
            finish(more, residual, out, i_m, i_n, rows, n, residual_stride, HAS_RESIDUAL)


@triton.jit
def rows_of_table(tokens, table, out, k, BK: tl.constexpr):
    """out[i] = table[tokens[i]], one program a row and BK columns."""
    row = tl.program_id(0)
    i_k = tl.program_id(1) * BK + tl.arange(0, BK)
    token = tl.load(tokens + row).to(tl.int64)
    tl.store(out + row.to(tl.int64) * k + i_k, tl.load(table + token * k + i_k, mask=i_k < k), mask=i_k < k)
