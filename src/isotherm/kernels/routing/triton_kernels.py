"""Routing on the GPU. Grouping is integers: every order of them gives the same groups."""

import triton
import triton.language as tl

from isotherm.kernels.activation.triton_kernels import sigmoid
from isotherm.kernels.gpu.triton_kernels import take_turn
from isotherm.kernels.sampling.triton_kernels import packed, value_of


@triton.jit(do_not_specialize=["x_units"])
def route(
    x,
    experts,
    weights,
    x_units,
    E: tl.constexpr,
    K: tl.constexpr,
    BE: tl.constexpr,
    RENORMALIZE: tl.constexpr,
    OVERLAP: tl.constexpr,
):
    """One row a program, by one warp: the layout of its sums follows E alone."""
    take_turn(OVERLAP)
    row, i = tl.program_id(0).to(tl.int64), tl.arange(0, BE)
    b = tl.load(x + row * x_units * 4 + i, mask=i < E, other=float("-inf"))
    lowest = tl.full((BE,), -0x7FFFFFFFFFFFFFFF, tl.int64)
    pairs = tl.where(i < E, packed(b, i), lowest)
    largest = value_of(tl.max(pairs))
    chosen = i < 0
    for _ in range(K):
        best = pairs == tl.max(pairs)
        chosen = chosen | best
        pairs = tl.where(best, lowest, pairs)
    p = tl.exp(b - largest)
    p = p / tl.sum(tl.where(i < E, p, 0.0))
    if RENORMALIZE:
        p = p / tl.sum(tl.where(chosen, p, 0.0))
    place = row * K + tl.cumsum(chosen.to(tl.int32)) - 1
    tl.store(experts + place, i, mask=chosen)
    tl.store(weights + place, p, mask=chosen)


@triton.jit(do_not_specialize=["pairs"])
def place_few(
    experts, offsets, rows, places, table, pairs, e,
    K: tl.constexpr, BP: tl.constexpr, BJ: tl.constexpr, BM: tl.constexpr, BE: tl.constexpr, OVERLAP: tl.constexpr,
):  # fmt: skip
    """All of grouping in one launch, for few pairs: BP pairs a program, and BE of the e + 1 offsets, are compared with all pairs.

    table [pairs, 4]: where a tile begins its entry (expert, first pair, end pair), else expert -1.
    """
    take_turn(OVERLAP)
    i, bound = tl.program_id(0) * BP + tl.arange(0, BP), tl.program_id(0) * BE + tl.arange(0, BE)
    live = i < pairs
    own = tl.load(experts + i, mask=live, other=0)
    place, rank, same = tl.zeros((BP,), tl.int32), tl.zeros((BP,), tl.int32), tl.zeros((BP,), tl.int32)
    below = tl.zeros((BE,), tl.int32)
    for first in range(0, pairs, BJ):
        j = first + tl.arange(0, BJ)
        other = tl.load(experts + j, mask=j < pairs, other=e)  # none is as large
        equal = own[:, None] == other[None, :]
        before = equal & (j[None, :] < i[:, None])
        place += tl.sum((before | (other[None, :] < own[:, None])).to(tl.int32), 1)
        rank += tl.sum(before.to(tl.int32), 1)
        same += tl.sum(equal.to(tl.int32), 1)
        below += tl.sum((other[None, :] < bound[:, None]).to(tl.int32), 1)
    tl.store(offsets + bound, below, mask=bound <= e)
    tl.store(places + i, place, mask=live)
    tl.store(rows + place, i // K, mask=live)
    p_tile = table + place * 4
    tl.store(p_tile, tl.where(rank % BM == 0, own, -1), mask=live)
    tl.store(p_tile + 1, place, mask=live)
    tl.store(p_tile + 2, tl.minimum(place + BM, place - rank + same), mask=live)


@triton.jit(do_not_specialize=["pairs"])
def count_pairs(experts, counts, pairs, e, BP: tl.constexpr, BE: tl.constexpr, OVERLAP: tl.constexpr):
    """counts [chunks, e]: how many pairs of a chunk of BP each expert has, BE experts a turn."""
    take_turn(OVERLAP)
    i = tl.program_id(0) * BP + tl.arange(0, BP)
    own = tl.load(experts + i, mask=i < pairs, other=-1)
    for first in range(0, e, BE):
        expert = first + tl.arange(0, BE)
        count = tl.sum((own[:, None] == expert[None, :]).to(tl.int32), 0)
        tl.store(counts + tl.program_id(0) * e + expert, count, mask=expert < e)


@triton.jit(do_not_specialize=["chunks", "tiles"])
def place_chunks(
    counts, offsets, starts, table, chunks, tiles, e,
    BC: tl.constexpr, BE: tl.constexpr, BT: tl.constexpr, BM: tl.constexpr, OVERLAP: tl.constexpr,
):  # fmt: skip
    """counts become each chunk's first place within its expert's pairs; offsets [e + 1] each expert's first pair. One program.

    starts [e]: each expert's first tile of BM pairs; table [tiles, 4] begins with -1 where no tile is.
    """
    take_turn(OVERLAP)
    expert, c = tl.arange(0, BE), tl.arange(0, BC)
    total = tl.zeros((BE,), tl.int32)
    for first in range(0, chunks, BC):
        live = (first + c < chunks)[:, None] & (expert < e)[None, :]
        p = counts + (first + c)[:, None] * e + expert[None, :]
        b = tl.load(p, mask=live, other=0)
        tl.store(p, total[None, :] + tl.cumsum(b, 0) - b, mask=live)
        total += tl.sum(b, 0)
    tl.store(offsets + 1 + expert, tl.cumsum(total), mask=expert < e)
    tl.store(offsets + expert, 0, mask=expert == 0)
    needed = (total + BM - 1) // BM
    tl.store(starts + expert, tl.cumsum(needed) - needed, mask=expert < e)
    for t in range(tl.sum(needed), tiles, BT):
        tl.store(table + (t + tl.arange(0, BT)) * 4, -1, mask=t + tl.arange(0, BT) < tiles)


@triton.jit(do_not_specialize=["pairs"])
def place_pairs(
    experts, counts, offsets, starts, rows, places, table, pairs, e,
    K: tl.constexpr, BP: tl.constexpr, BJ: tl.constexpr, BM: tl.constexpr, OVERLAP: tl.constexpr,
):  # fmt: skip
    """A chunk of BP pairs a program: rows [pairs] and places [pairs], and from the pair that begins a tile its entry in
    table [tiles, 4]: expert, first pair, end pair."""
    take_turn(OVERLAP)
    chunk = tl.program_id(0)
    i = chunk * BP + tl.arange(0, BP)
    live = i < pairs
    own = tl.load(experts + i, mask=live, other=0)
    rank = tl.load(counts + chunk * e + own, mask=live, other=0)
    for first in range(0, BP, BJ):
        j = chunk * BP + first + tl.arange(0, BJ)
        other = tl.load(experts + j, mask=j < pairs, other=-1)
        before = (own[:, None] == other[None, :]) & (j[None, :] < i[:, None])
        rank += tl.sum(before.to(tl.int32), 1)
    place = tl.load(offsets + own, mask=live, other=0) + rank
    tl.store(places + i, place, mask=live)
    tl.store(rows + place, i // K, mask=live)
    begins = live & (rank % BM == 0)
    p_tile = table + (tl.load(starts + own, mask=live, other=0) + rank // BM) * 4
    tl.store(p_tile, own, mask=begins)
    tl.store(p_tile + 1, place, mask=begins)
    end = tl.load(offsets + own + 1, mask=live, other=0)
    tl.store(p_tile + 2, tl.minimum(place + BM, end), mask=begins)


@triton.jit
def combine(
    pairs, weights, places, shared, shared_gate, residual, out, shared_stride, gate_stride, residual_stride, n,
    K: tl.constexpr, BN: tl.constexpr, SHARED: tl.constexpr, GATED: tl.constexpr, OVERLAP: tl.constexpr,
):  # fmt: skip
    """One row and BN columns a program: one accumulator an output over ascending experts."""
    take_turn(OVERLAP)
    row, c = tl.program_id(0).to(tl.int64), tl.program_id(1) * BN + tl.arange(0, BN)
    live, zeros = c < n, tl.zeros((BN,), tl.float32)
    y = zeros
    for j in tl.static_range(K):
        place = tl.load(places + row * K + j).to(tl.int64)
        weight = zeros + tl.load(weights + row * K + j)
        y = tl.fma(weight, tl.load(pairs + place * n + c, mask=live, other=0.0).to(tl.float32), y)
    y = tl.load(residual + row * residual_stride + c, mask=live, other=0.0).to(tl.float32) + y
    if SHARED:
        gate = zeros + 1.0
        if GATED:
            gate = sigmoid(zeros + tl.load(shared_gate + row * gate_stride).to(tl.float32))
        y = tl.fma(gate, tl.load(shared + row * shared_stride + c, mask=live, other=0.0).to(tl.float32), y)
    tl.store(out + row * n + c, y.to(out.dtype.element_ty), mask=live)
