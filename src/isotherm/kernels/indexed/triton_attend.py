"""Attention over the chosen blocks of a row on the GPU; the query heads that share a key head are a program's tile.

Blocks are visited as isotherm.kernels.attention visits them (`weigh`, `gather`), in splits of so many blocks of the row's own
list, which merge in ascending order. A program that walks all of a row's splits, and programs that have one each, run these same
functions.
"""

import triton
import triton.language as tl

from isotherm.kernels.attention.triton_kernels import gather, merge, weigh
from isotherm.kernels.gpu.triton_kernels import take_turn

BLOCK = tl.constexpr(64)


@triton.jit
def length_of(chosen, LENGTH: tl.constexpr, BL: tl.constexpr):
    """How many blocks a list has."""
    n = tl.arange(0, BL)
    return tl.sum((tl.load(chosen + n * 3, mask=n < LENGTH, other=-1) >= 0).to(tl.int32), 0)


@triton.jit
def walk_chosen(
    b_q, k, v, table, chosen, head, first, end, t, scale,
    HEADS: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, RATIO: tl.constexpr, SKIP: tl.constexpr,
):  # fmt: skip
    """Entries `first` to `end` of a list: m, l, acc. Keys that are not chosen count nothing where they stand."""
    m, l, acc = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM, 16), tl.float32), tl.zeros((BM, D), tl.float32)
    j, d = tl.arange(0, BLOCK), tl.arange(0, D)
    group = j // RATIO
    for n in range(first, end):
        i, low, high = tl.load(chosen + n * 3), tl.load(chosen + n * 3 + 1), tl.load(chosen + n * 3 + 2)
        place = (tl.load(table + i).to(tl.int64) * HEADS + head) * BLOCK * D
        seen = ((tl.where(group < 32, low, high) >> (group % 32)) & 1) != 0
        seen = seen & (i * BLOCK + j <= t)
        if SKIP > 0:
            seen = seen & (i * BLOCK + j >= tl.minimum(t, SKIP))
        tile = place + j[:, None] * D + d[None, :]
        b_k = tl.load(k + tile)
        b_v = tl.where(seen[:, None], tl.load(v + tile), 0.0)
        s = tl.where(seen[None, :], tl.dot(b_q, tl.trans(b_k)), float("-inf"))
        m, p, fade = weigh(s, m, 0, m, scale, False, 0)
        l, acc = gather(p.to(b_q.dtype), b_v, fade, l, acc)
    return m, tl.max(l, 1), acc


@triton.jit(do_not_specialize=["q_stride"])
def attend_chosen(
    positions, segments, block_offsets, blocks, chosen, q, k, v, out, part_m, part_l, part_acc, q_stride, scale,
    HEADS: tl.constexpr, GROUP: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, RATIO: tl.constexpr, SKIP: tl.constexpr,
    LENGTH: tl.constexpr, BL: tl.constexpr, SPLIT: tl.constexpr, SPLITS: tl.constexpr, OVERLAP: tl.constexpr,
):  # fmt: skip
    """A row and a key head a program. SPLITS > 1: one split a program, whose m, l, acc go to part_*[row, head, split]; else all
    of them, merged, and `out` gets the result. `scale` includes log2(e)."""
    take_turn(OVERLAP)
    row, head = tl.program_id(0), tl.program_id(1)
    t = tl.load(positions + row)
    table = blocks + tl.load(block_offsets + tl.load(segments + row))
    chosen += row.to(tl.int64) * (3 * LENGTH)
    count = length_of(chosen, LENGTH, BL)
    i, d = tl.arange(0, BM), tl.arange(0, D)
    live = (i < GROUP)[:, None]
    column = (head * GROUP + i)[:, None] * D + d[None, :]
    b_q = tl.load(q + row.to(tl.int64) * q_stride + column, mask=live, other=0.0)
    if SPLITS > 1:
        first = tl.program_id(2) * SPLIT
        if first < count:
            end = tl.minimum(first + SPLIT, count)
            m, l, acc = walk_chosen(b_q, k, v, table, chosen, head, first, end, t, scale, HEADS, D, BM, RATIO, SKIP)
            p_row = ((row.to(tl.int64) * HEADS + head) * SPLITS + tl.program_id(2)) * BM + i
            tl.store(part_m + p_row, m)
            tl.store(part_l + p_row, l)
            tl.store(part_acc + p_row[:, None] * D + d[None, :], acc, mask=live)
    else:
        m, l, acc = walk_chosen(
            b_q, k, v, table, chosen, head, 0, tl.minimum(SPLIT, count), t, scale, HEADS, D, BM, RATIO, SKIP
        )
        for first in tl.range(SPLIT, count, SPLIT, num_stages=1):
            end = tl.minimum(first + SPLIT, count)
            m_s, l_s, acc_s = walk_chosen(
                b_q, k, v, table, chosen, head, first, end, t, scale, HEADS, D, BM, RATIO, SKIP
            )
            m, l, acc = merge(m, l, acc, m_s, l_s, acc_s)
        p_out = out + row.to(tl.int64) * (HEADS * GROUP * D) + column
        tl.store(p_out, (acc / l[:, None]).to(out.dtype.element_ty), mask=live)


@triton.jit
def combine_chosen(
    chosen, part_m, part_l, part_acc, out,
    HEADS: tl.constexpr, GROUP: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BD: tl.constexpr, LENGTH: tl.constexpr,
    BL: tl.constexpr, SPLIT: tl.constexpr, SPLITS: tl.constexpr, OVERLAP: tl.constexpr,
):  # fmt: skip
    """The splits of a row's list in ascending order, BD columns a program."""
    take_turn(OVERLAP)
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    count = length_of(chosen + row * (3 * LENGTH), LENGTH, BL)
    i, d = tl.arange(0, BM), tl.program_id(2) * BD + tl.arange(0, BD)
    live = (i < GROUP)[:, None]
    p_row = (row * HEADS + head) * (SPLITS * BM) + i
    m, l = tl.load(part_m + p_row), tl.load(part_l + p_row)
    acc = tl.load(part_acc + p_row[:, None] * D + d[None, :], mask=live, other=0.0)
    for _ in range(SPLIT, count, SPLIT):
        p_row += BM
        acc_s = tl.load(part_acc + p_row[:, None] * D + d[None, :], mask=live, other=0.0)
        m, l, acc = merge(m, l, acc, tl.load(part_m + p_row), tl.load(part_l + p_row), acc_s)
    column = (head * GROUP + i)[:, None] * D + d[None, :]
    tl.store(out + row * (HEADS * GROUP * D) + column, (acc / l[:, None]).to(out.dtype.element_ty), mask=live)
