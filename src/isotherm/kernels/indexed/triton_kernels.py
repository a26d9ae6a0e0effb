"""What an indexed attention layer keeps on the GPU, and the choice of groups: scores, the least that is chosen, the blocks.

A choice is a list of blocks, [M, LENGTH, 3] int32: each block of 64 in which something is chosen, ascending, and which of
its groups, a bit each, the first 32 and the rest. Beyond the last one the block is -1.
"""

import triton
import triton.language as tl

from isotherm.kernels.gpu.triton_kernels import take_turn
from isotherm.kernels.norm.triton_kernels import inverse_rms

BLOCK = tl.constexpr(64)


@triton.jit
def write_keys(
    positions, segments, block_offsets, blocks, x, keys, x_stride, DI: tl.constexpr, BD: tl.constexpr, OVERLAP: tl.constexpr
):  # fmt: skip
    """One row's raw index key into its block."""
    take_turn(OVERLAP)
    row = tl.program_id(0)
    position = tl.load(positions + row)
    block = tl.load(blocks + tl.load(block_offsets + tl.load(segments + row)) + position // BLOCK).to(tl.int64)
    d = tl.arange(0, BD)
    key = tl.load(x + row.to(tl.int64) * x_stride + d, mask=d < DI)
    tl.store(keys + (block * BLOCK + position % BLOCK) * DI + d, key, mask=d < DI)


@triton.jit
def mean(keys, first, c, live, COUNT: tl.constexpr, BEGIN, DI: tl.constexpr):
    """Columns c of the mean of a group's raw keys from number BEGIN on, summed over ascending tokens, and rounded."""
    total = tl.zeros_like(c).to(tl.float32)
    for token in tl.static_range(COUNT):
        key = tl.load(keys + (first + token) * DI + c, mask=live & (token >= BEGIN), other=0.0)
        total += key.to(tl.float32)
    return (total / (COUNT - BEGIN).to(tl.float32)).to(keys.dtype.element_ty).to(tl.float32)


@triton.jit
def pool(
    positions, segments, block_offsets, blocks, keys, pooled, weight, cos, sin, eps,
    DI: tl.constexpr, HALF: tl.constexpr, BD: tl.constexpr, BR: tl.constexpr, RATIO: tl.constexpr, SKIP: tl.constexpr,
    OVERLAP: tl.constexpr,
):  # fmt: skip
    """The pooled key of the group that a row completes, if it does: mean, norm, and rotation at the group's first position."""
    take_turn(OVERLAP)
    row = tl.program_id(0)
    position = tl.load(positions + row)
    if (position + 1) % RATIO == 0:
        block = tl.load(blocks + tl.load(block_offsets + tl.load(segments + row)) + position // BLOCK).to(tl.int64)
        start = position + 1 - RATIO
        first = block * BLOCK + start % BLOCK
        begin = tl.where(start == 0, SKIP, 0)
        d, r = tl.arange(0, BD)[None, :], tl.arange(0, BR)[None, :]
        whole, turned = d < DI, r < HALF
        x = mean(keys, first, d, whole, RATIO, begin, DI)
        scale = inverse_rms(x, eps, DI)[:, None]
        y = x * scale * tl.load(weight + d, mask=whole, other=0.0)
        p_out = pooled + (block * (BLOCK // RATIO) + start % BLOCK // RATIO) * DI
        tl.store(p_out + d, y.to(pooled.dtype.element_ty), mask=whole & (d >= 2 * HALF))
        angle = start.to(tl.int64) * HALF + r
        c, s = tl.load(cos + angle, mask=turned, other=0.0), tl.load(sin + angle, mask=turned, other=0.0)
        a = mean(keys, first, r, turned, RATIO, begin, DI)
        a = a * scale * tl.load(weight + r, mask=turned, other=0.0)
        b = mean(keys, first, HALF + r, turned, RATIO, begin, DI)
        b = b * scale * tl.load(weight + HALF + r, mask=turned, other=0.0)
        tl.store(p_out + r, tl.fma(-b, s, a * c).to(pooled.dtype.element_ty), mask=turned)
        tl.store(p_out + HALF + r, tl.fma(a, s, b * c).to(pooled.dtype.element_ty), mask=turned)


@triton.jit(do_not_specialize=["width"])
def score(
    positions, segments, block_offsets, blocks, q, pooled, scores, q_stride, width,
    HEADS: tl.constexpr, BH: tl.constexpr, DI: tl.constexpr, BD: tl.constexpr, RATIO: tl.constexpr, MOST: tl.constexpr,
    BN: tl.constexpr, OVERLAP: tl.constexpr,
):  # fmt: skip
    """BN scores of a row with more than MOST complete groups: over ascending heads, of max(q . pooled, 0).

    Picking a head's column is a sum of it and zeros, which is exact in any order.
    """
    take_turn(OVERLAP)
    row, first = tl.program_id(0), tl.program_id(1) * BN
    groups = (tl.load(positions + row) + 1) // RATIO
    if (groups > MOST) & (first < groups):
        table = blocks + tl.load(block_offsets + tl.load(segments + row))
        g, h, d = first + tl.arange(0, BN), tl.arange(0, BH), tl.arange(0, BD)
        block = tl.load(table + g // (BLOCK // RATIO), mask=g < groups, other=0).to(tl.int64)
        place = block * (BLOCK // RATIO) + g % (BLOCK // RATIO)
        b_key = tl.load(
            pooled + place[:, None] * DI + d[None, :], mask=(g < groups)[:, None] & (d < DI)[None, :], other=0.0
        )
        p_q = q + row.to(tl.int64) * q_stride + h[:, None] * DI + d[None, :]
        b_q = tl.load(p_q, mask=(h < HEADS)[:, None] & (d < DI)[None, :], other=0.0)
        product = tl.dot(b_key, tl.trans(b_q))
        product = tl.where(product <= 0.0, 0.0, product)
        total = tl.zeros((BN,), tl.float32)
        for head in tl.static_range(HEADS):
            total += tl.sum(tl.where(h[None, :] == head, product, 0.0), 1)
        tl.store(scores + row.to(tl.int64) * width + g, total, mask=g < groups)


@triton.jit
def ordered(scores, g, groups):
    """Scores as integers in their order, a NaN the largest; -1 beyond the row's groups."""
    bits = tl.load(scores + g, mask=g < groups, other=0.0).to(tl.int32, bitcast=True) & 0x7FFFFFFF
    return tl.where(g < groups, bits, -1)


@triton.jit
def least_chosen(scores, groups, MOST: tl.constexpr, BG: tl.constexpr):
    """The MOST-th largest of the scores, found bit by bit, and how many are larger."""
    least, above = 0, 0
    for bit in range(31):
        candidate = least | (1 << (30 - bit))
        count = 0
        for first in range(0, groups, BG):
            count += tl.sum((ordered(scores, first + tl.arange(0, BG), groups) >= candidate).to(tl.int32), 0)
        enough = count >= MOST
        least, above = tl.where(enough, candidate, least), tl.where(enough, above, count)
    return least, above


@triton.jit(do_not_specialize=["width"])
def choose(
    positions, scores, chosen, width,
    RATIO: tl.constexpr, MOST: tl.constexpr, LENGTH: tl.constexpr, BG: tl.constexpr, BL: tl.constexpr, OVERLAP: tl.constexpr,
):  # fmt: skip
    """A row's blocks. Integers only: of the groups that score the same the first ones are chosen, by their place."""
    take_turn(OVERLAP)
    row = tl.program_id(0)
    position = tl.load(positions + row)
    groups, own = (position + 1) // RATIO, position // RATIO + 1
    scores += row.to(tl.int64) * width
    chosen += row.to(tl.int64) * (3 * LENGTH)
    sparse = groups > MOST
    least, above = -1, 0
    if sparse:
        least, above = least_chosen(scores, groups, MOST, BG)
    A: tl.constexpr = BLOCK // RATIO
    tied, placed = 0, 0
    for first in range(0, own, BG):
        g = first + tl.arange(0, BG)
        bits = ordered(scores, g, tl.where(sparse, groups, 0))
        same = (bits == least) & sparse
        rank = above + tied + tl.cumsum(same.to(tl.int32), 0)
        keep = (sparse & (bits > least)) | (same & (rank <= MOST)) | ((g < own) & ((g >= groups) | (groups <= MOST)))
        tied += tl.sum(same.to(tl.int32), 0)
        in_blocks = tl.reshape(keep.to(tl.int32), (BG // A, A))
        a = tl.arange(0, A)[None, :]
        low = tl.sum(tl.where(a < 32, in_blocks << (a % 32), 0), 1)
        high = tl.sum(tl.where(a >= 32, in_blocks << (a % 32), 0), 1)
        some = (low | high) != 0
        place = placed + tl.cumsum(some.to(tl.int32), 0) - 1
        p_entry = chosen + place * 3
        tl.store(p_entry, first // A + tl.arange(0, BG // A), mask=some)
        tl.store(p_entry + 1, low, mask=some)
        tl.store(p_entry + 2, high, mask=some)
        placed += tl.sum(some.to(tl.int32), 0)
    n = tl.arange(0, BL)
    beyond, nothing = (n >= placed) & (n < LENGTH), tl.zeros((BL,), tl.int32)
    tl.store(chosen + n * 3, nothing - 1, mask=beyond)
    tl.store(chosen + n * 3 + 1, nothing, mask=beyond)
    tl.store(chosen + n * 3 + 2, nothing, mask=beyond)
