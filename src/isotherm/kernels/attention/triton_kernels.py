"""Paged attention on the GPU. A tile is BM consecutive (row, query head) pairs of a segment that read one key-value head.

The law is in the package's docstring: `weigh` and `gather` are one block of 64 keys, `merge` joins two splits;
prefill, verify and decode run these same functions, whether one program walks all splits of a tile or each split has its own.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

BLOCK = tl.constexpr(64)


@triton.jit
def weigh(s, m, first, t, scale, MASK: tl.constexpr, SKIP: tl.constexpr):
    """Raw scores of the 64 keys from position `first` on -> m with them, their weights p, and how much l and acc fade.

    With MASK, keys beyond a row's position t count nothing; with SKIP neither does key 0, but for the row at position 0.
    """
    if MASK:
        j = first + tl.arange(0, BLOCK)[None, :]
        seen = j <= t[:, None]
        if SKIP > 0:
            seen = seen & (j >= tl.minimum(t, SKIP)[:, None])
        s = tl.where(seen, s, float("-inf"))
    largest = tl.maximum(m, tl.max(s, 1) * scale)
    shift = tl.where(largest == float("-inf"), 0.0, largest)
    fade = tl.exp2(m - shift)
    p = tl.exp2(tl.fma(s, tl.zeros_like(s) + scale, tl.zeros_like(s) - shift[:, None]))
    return largest, p, fade[:, None]


@triton.jit
def gather(p, b_v, fade, l, acc):
    """Adds 64 keys to l [rows, 16] and acc. l is a product with ones, 16 equal columns: its order of terms is a dot's, by key,
    where a sum over a tile's row would follow the tile's layout."""
    ones = tl.full((BLOCK, 16), 1.0, b_v.dtype)
    return tl.dot(p, ones, acc=l * fade), tl.dot(p, b_v, acc=acc * fade)


@triton.jit
def page(store, block, head, HEADS: tl.constexpr, D: tl.constexpr, DESCRIPTOR: tl.constexpr):
    """A whole block, [64, D]."""
    place = (block * HEADS + head) * BLOCK
    if DESCRIPTOR:
        x = store.load([place, 0])
    else:
        x = tl.load(store + (place.to(tl.int64) + tl.arange(0, BLOCK))[:, None] * D + tl.arange(0, D)[None, :])
    return x


@triton.jit
def merge(m_a, l_a, acc_a, m_b, l_b, acc_b):
    """Split b after split a."""
    largest = tl.maximum(m_a, m_b)
    shift = tl.where(largest == float("-inf"), 0.0, largest)
    a, b = tl.exp2(m_a - shift), tl.exp2(m_b - shift)
    return largest, tl.fma(l_a, a, l_b * b), tl.fma(acc_a, tl.zeros_like(acc_a) + a[:, None], acc_b * b[:, None])


@triton.jit
def walk(
    b_q, k, v, table, head, m, l, acc, first, end, scale,
    HEADS: tl.constexpr, D: tl.constexpr, DESCRIPTOR: tl.constexpr,
):  # fmt: skip
    """Whole blocks from `first` to `end` that every row of the tile sees. Block ids are read a turn before they are used."""
    table += first // BLOCK
    count = (end - first) // BLOCK
    block = tl.load(table, mask=count > 0, other=0)
    for i in range(count):
        b_k = page(k, block, head, HEADS, D, DESCRIPTOR)
        b_v = page(v, block, head, HEADS, D, DESCRIPTOR)
        block = tl.load(table + tl.minimum(i + 1, count - 1))
        m, p, fade = weigh(tl.dot(b_q, tl.trans(b_k)), m, 0, m, scale, False, 0)
        l, acc = gather(p.to(b_q.dtype), b_v, fade, l, acc)
    return m, l, acc


@triton.jit
def walk_edge(
    b_q, k, v, table, head, m, l, acc, first, end, t, scale,
    HEADS: tl.constexpr, D: tl.constexpr, DESCRIPTOR: tl.constexpr, SKIP: tl.constexpr,
):  # fmt: skip
    """Blocks from `first` to position `end`, of which some rows see a part. What lies at `end` and beyond is never used."""
    for n in tl.range(first, end, 64, num_stages=1):
        block = tl.load(table + n // BLOCK)
        b_k = page(k, block, head, HEADS, D, DESCRIPTOR)
        b_v = page(v, block, head, HEADS, D, DESCRIPTOR)
        b_v = tl.where((n + tl.arange(0, BLOCK) < end)[:, None], b_v, 0.0)
        m, p, fade = weigh(tl.dot(b_q, tl.trans(b_k)), m, n, t, scale, True, SKIP)
        l, acc = gather(p.to(b_q.dtype), b_v, fade, l, acc)
    return m, l, acc


@triton.jit
def walk_split(
    b_q, k, v, table, head, m, l, acc, first, edge, end, t, scale,
    HEADS: tl.constexpr, D: tl.constexpr, DESCRIPTOR: tl.constexpr, SKIP: tl.constexpr,
):  # fmt: skip
    """Positions `first` to `end` of one split; every row sees the whole of what lies before `edge`, but for the skipped key."""
    if SKIP > 0:
        opened = tl.minimum(tl.where(first == 0, BLOCK, first), edge)
        m, l, acc = walk_edge(b_q, k, v, table, head, m, l, acc, first, opened, t, scale, HEADS, D, DESCRIPTOR, SKIP)
        first = opened
    m, l, acc = walk(b_q, k, v, table, head, m, l, acc, first, edge, scale, HEADS, D, DESCRIPTOR)
    return walk_edge(b_q, k, v, table, head, m, l, acc, edge, end, t, scale, HEADS, D, DESCRIPTOR, SKIP)


@triton.jit
def attend(
    items,
    row_offsets,
    starts,
    block_offsets,
    blocks,
    q,
    k,
    v,
    out,
    part_m,
    part_l,
    part_acc,
    q_stride,
    scale,
    HEADS: tl.constexpr,
    GROUP: tl.constexpr,
    D: tl.constexpr,
    BM: tl.constexpr,
    SPLIT: tl.constexpr,
    ALONE: tl.constexpr,
    DESCRIPTOR: tl.constexpr,
    SKIP: tl.constexpr,
    OVERLAP: tl.constexpr,
):
    """items [W, 4]: segment, first pair, first split, end split. ALONE: one split, whose m, l, acc go to part_*[item, head].

    Else all splits of the tile; part_*[item, head] is where finished ones wait, and `out` gets the result. k, v are
    descriptors of [blocks * HEADS * 64, D] with tiles of [64, D], or pointers. `scale` includes log2(e).
    """
    item, head = tl.program_id(0), tl.program_id(1)
    if OVERLAP:
        gdc_wait()
        gdc_launch_dependents()
    segment, pair0 = tl.load(items + item * 4), tl.load(items + item * 4 + 1)
    split0, split1 = tl.load(items + item * 4 + 2), tl.load(items + item * 4 + 3)
    row0, start = tl.load(row_offsets + segment), tl.load(starts + segment)
    rows = tl.load(row_offsets + segment + 1) - row0
    table = blocks + tl.load(block_offsets + segment)
    i, d = tl.arange(0, BM), tl.arange(0, D)
    row, member = (pair0 + i) // GROUP, (pair0 + i) % GROUP
    live, t = row < rows, start + row
    column = (row0 + row).to(tl.int64)[:, None] * q_stride + ((head * GROUP + member) * D)[:, None] + d[None, :]
    b_q = tl.load(q + column, mask=live[:, None], other=0.0)
    end = tl.minimum(start + tl.minimum((pair0 + BM - 1) // GROUP, rows - 1) + 1, split1 * SPLIT)
    first = split0 * SPLIT
    full = tl.maximum(first, tl.minimum(end, start + pair0 // GROUP + 1) // BLOCK * BLOCK)
    p_row = (item.to(tl.int64) * HEADS + head) * BM + i
    p_acc = p_row[:, None] * D + d[None, :]
    place = (
        (row0 + row).to(tl.int64)[:, None] * (HEADS * GROUP * D) + ((head * GROUP + member) * D)[:, None] + d[None, :]
    )
    nothing, zero, zeros = (
        tl.full((BM,), float("-inf"), tl.float32),
        tl.zeros((BM, 16), tl.float32),
        tl.zeros((BM, D), tl.float32),
    )
    if ALONE:
        m, l, acc = walk_split(
            b_q, k, v, table, head, nothing, zero, zeros, first, full, end, t, scale, HEADS, D, DESCRIPTOR, SKIP
        )
        tl.store(part_m + p_row, m)
        tl.store(part_l + p_row, tl.max(l, 1))
        tl.store(part_acc + p_acc, acc, mask=live[:, None])
    else:
        for at in tl.range(first, end, SPLIT, num_stages=1):
            to = tl.minimum(at + SPLIT, end)
            edge = tl.maximum(at, tl.minimum(full, to))
            m, l, acc = walk_split(
                b_q, k, v, table, head, nothing, zero, zeros, at, edge, to, t, scale, HEADS, D, DESCRIPTOR, SKIP
            )
            total = tl.max(l, 1)
            if at > 0:
                m, total, acc = merge(
                    tl.load(part_m + p_row), tl.load(part_l + p_row), tl.load(part_acc + p_acc), m, total, acc
                )
            if to < end:
                tl.store(part_m + p_row, m)
                tl.store(part_l + p_row, total)
                tl.store(part_acc + p_acc, acc)
                tl.debug_barrier()
            else:
                tl.store(out + place, (acc / total[:, None]).to(out.dtype.element_ty), mask=live[:, None])


@triton.jit
def combine(
    tiles,
    row_offsets,
    part_m,
    part_l,
    part_acc,
    out,
    HEADS: tl.constexpr,
    GROUP: tl.constexpr,
    D: tl.constexpr,
    BM: tl.constexpr,
    BD: tl.constexpr,
    OVERLAP: tl.constexpr,
):
    """The splits of a tile in ascending order, BD columns a program. tiles [X, 4]: segment, first pair, first item, end item."""
    tile, head, column = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    if OVERLAP:
        gdc_wait()
        gdc_launch_dependents()
    segment, pair0 = tl.load(tiles + tile * 4), tl.load(tiles + tile * 4 + 1)
    item, end = tl.load(tiles + tile * 4 + 2), tl.load(tiles + tile * 4 + 3)
    i, d = tl.arange(0, BM), column * BD + tl.arange(0, BD)
    row, member = (pair0 + i) // GROUP, (pair0 + i) % GROUP
    row0 = tl.load(row_offsets + segment)
    live = (row < tl.load(row_offsets + segment + 1) - row0)[:, None]
    p_row = (item.to(tl.int64) * HEADS + head) * BM + i
    m, l = tl.load(part_m + p_row), tl.load(part_l + p_row)
    acc = tl.load(part_acc + p_row[:, None] * D + d[None, :], mask=live, other=0.0)
    for _ in range(item + 1, end):
        p_row += HEADS * BM
        b_acc = tl.load(part_acc + p_row[:, None] * D + d[None, :], mask=live, other=0.0)
        m, l, acc = merge(m, l, acc, tl.load(part_m + p_row), tl.load(part_l + p_row), b_acc)
    place = (
        (row0 + row).to(tl.int64)[:, None] * (HEADS * GROUP * D) + ((head * GROUP + member) * D)[:, None] + d[None, :]
    )
    tl.store(out + place, (acc / l[:, None]).to(out.dtype.element_ty), mask=live)


@triton.jit
def write_pages(
    positions, segments, block_offsets, blocks, k, v, k_store, v_store, k_stride, v_stride,
    HEADS: tl.constexpr, D: tl.constexpr, BH: tl.constexpr,
):  # fmt: skip
    """One row's keys and values into its block. segments [M]: each row's segment."""
    row = tl.program_id(0)
    position = tl.load(positions + row)
    block = tl.load(blocks + tl.load(block_offsets + tl.load(segments + row)) + position // BLOCK).to(tl.int64)
    h, d = tl.arange(0, BH), tl.arange(0, D)
    live = (h < HEADS)[:, None]
    source = h[:, None] * D + d[None, :]
    place = ((block * HEADS + h) * BLOCK + position % BLOCK)[:, None] * D + d[None, :]
    tl.store(k_store + place, tl.load(k + row.to(tl.int64) * k_stride + source, mask=live), mask=live)
    tl.store(v_store + place, tl.load(v + row.to(tl.int64) * v_stride + source, mask=live), mask=live)
