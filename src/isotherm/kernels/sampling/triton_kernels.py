"""The choice of a token on the GPU. A row of logits is read in parts of BV tokens, a program each; a second launch joins them.

A pair (value, id) is one integer whose largest is the largest value and then the lowest id, so no order of comparison matters.
Sums go by part in ascending order, along layouts that the sizes fix; row strides come in units of 16 bytes (gpu.launch.aligned).
"""

import triton
import triton.language as tl

from isotherm.kernels.gpu.triton_kernels import take_turn
from isotherm.kernels.sampling.triton_noise import gumbel


@triton.jit
def packed(x, ids):
    """An int64 for each x float32 and id int32: larger for a larger x, then for a lower id. A NaN is -inf here, and -0 is 0."""
    bits = (tl.where(x == x, x, float("-inf")) + 0.0).to(tl.int32, bitcast=True)
    order = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    return (order.to(tl.int64) << 32) | (0x7FFFFFFF - ids).to(tl.int64)


@triton.jit
def value_of(pair):
    """The x of `packed`."""
    order = (pair >> 32).to(tl.int32)
    return (order ^ ((order >> 31) & 0x7FFFFFFF)).to(tl.float32, bitcast=True)


@triton.jit
def id_of(pair):
    """The id of `packed`."""
    return 0x7FFFFFFF - (pair & 0x7FFFFFFF).to(tl.int32)


@triton.jit(do_not_specialize=["x_units"])
def largest_of_parts(x, pairs, finites, x_units, v, BV: tl.constexpr, OVERLAP: tl.constexpr):
    """pairs [R, parts] int64: the largest of each part; finites [R, parts] int32: 1 where all of it is finite."""
    take_turn(OVERLAP)
    row, part, parts = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.num_programs(1)
    i = part * BV + tl.arange(0, BV)
    b = tl.load(x + row * x_units * 4 + i, mask=i < v, other=float("-inf"))
    tl.store(pairs + row * parts + part, tl.max(packed(b, i)))
    whole = tl.where((i >= v) | (tl.abs(b) < float("inf")), 1, 0)
    tl.store(finites + row * parts + part, tl.min(whole))


@triton.jit(do_not_specialize=["x_units"])
def noisy_of_parts(x, values, temperatures, keys, pairs, x_units, v, BV: tl.constexpr, OVERLAP: tl.constexpr):
    """pairs [R, parts] int64: the largest of (x - values[row]) / temperature + noise of each part; of x at temperature 0."""
    take_turn(OVERLAP)
    row, part, parts = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.num_programs(1)
    i = part * BV + tl.arange(0, BV)
    b = tl.load(x + row * x_units * 4 + i, mask=i < v, other=float("-inf"))
    temperature = tl.load(temperatures + row)
    if temperature > 0.0:
        b = scaled(b, tl.load(values + row), temperature) + gumbel(i, keys + row * 3)
    tl.store(pairs + row * parts + part, tl.max(packed(tl.where(i < v, b, float("-inf")), i)))


@triton.jit
def scaled(x, largest, temperature):
    """(x - largest) / temperature, correctly rounded."""
    return tl.div_rn(x - largest, tl.zeros_like(x) + temperature)


@triton.jit(do_not_specialize=["parts"])
def best_of_parts(
    pairs, finites, ids, values, finite, parts, BP: tl.constexpr, FINITE: tl.constexpr, OVERLAP: tl.constexpr
):
    """One row a program: its id, its value, and whether all of it is finite."""
    take_turn(OVERLAP)
    row, i = tl.program_id(0).to(tl.int64), tl.arange(0, BP)
    lowest = tl.full((BP,), -0x7FFFFFFFFFFFFFFF, tl.int64)
    best = tl.max(tl.where(i < parts, tl.load(pairs + row * parts + i, mask=i < parts, other=0), lowest))
    tl.store(ids + row, id_of(best))
    tl.store(values + row, value_of(best))
    if FINITE:
        tl.store(finite + row, tl.min(tl.load(finites + row * parts + i, mask=i < parts, other=1)).to(tl.int8))


@triton.jit(do_not_specialize=["x_units"])
def exp_of_parts(x, values, sums, x_units, v, BV: tl.constexpr, OVERLAP: tl.constexpr):
    """sums [R, parts]: sum of exp(x - values[row]) over each part."""
    take_turn(OVERLAP)
    row, part, parts = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.num_programs(1)
    i = part * BV + tl.arange(0, BV)
    b = tl.load(x + row * x_units * 4 + i, mask=i < v, other=float("-inf"))
    tl.store(sums + row * parts + part, tl.sum(tl.exp(b - tl.load(values + row))))


@triton.jit(do_not_specialize=["parts"])
def log_of_sums(sums, values, out, parts, BP: tl.constexpr, OVERLAP: tl.constexpr):
    """out [R] = log(sum of the row's parts) + values[row]."""
    take_turn(OVERLAP)
    row, i = tl.program_id(0).to(tl.int64), tl.arange(0, BP)
    total = tl.sum(tl.load(sums + row * parts + i, mask=i < parts, other=0.0))
    tl.store(out + row, tl.log(total) + tl.load(values + row))


@triton.jit(do_not_specialize=["x_units"])
def scale_rows(x, values, temperatures, out, x_units, v, BV: tl.constexpr, OVERLAP: tl.constexpr):
    """out [R, v] = (x - values[row]) / temperature, a NaN as -inf."""
    take_turn(OVERLAP)
    row = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * BV + tl.arange(0, BV)
    b = tl.load(x + row * x_units * 4 + i, mask=i < v, other=float("-inf"))
    b = scaled(b, tl.load(values + row), tl.load(temperatures + row))
    tl.store(out + row * v + i, tl.where(b == b, b, float("-inf")), mask=i < v)


@triton.jit
def _first(x, i, none):
    """The lowest of i where x holds, else `none`."""
    return tl.min(tl.where(x, i, none))


@triton.jit(do_not_specialize=["v"])
def keep_prefix(x, top_ks, top_ps, min_ps, counts, v, BV: tl.constexpr, OVERLAP: tl.constexpr):
    """How many tokens of x [R, v], in order, min_p, top_k and top_p keep in turn, one row a program.

    Sums go by blocks of BV in order, within one by its scan. A row is v apart from the next, and v is never specialised.
    """
    take_turn(OVERLAP)
    row = tl.program_id(0)
    p_x, i = x + row.to(tl.int64) * v, tl.arange(0, BV)
    top_k, top_p, min_p = tl.load(top_ks + row), tl.load(top_ps + row), tl.load(min_ps + row)
    count = tl.where((top_k > 0) & (top_k < v), top_k, v)
    searching = 1
    at = 0
    while searching > 0:  # the first token that min_p or -inf leaves out
        b = tl.load(p_x + at + i, mask=at + i < count, other=float("-inf"))
        end = _first((b == float("-inf")) | (tl.exp(b) < min_p), at + i, at + BV)
        searching = tl.where((end == at + BV) & (at + BV < count), 1, 0)
        count = tl.where(end < at + BV, tl.minimum(count, end), count)
        at += BV
    if top_p < 1.0:
        total = 0.0
        for at in range(0, count, BV):
            b = tl.load(p_x + at + i, mask=at + i < count, other=float("-inf"))
            total += tl.sum(tl.exp(b))
        bound = top_p * total
        before = 0.0
        searching = 1
        at = 0
        while searching > 0:
            b = tl.exp(tl.load(p_x + at + i, mask=at + i < count, other=float("-inf")))
            end = _first(before + tl.cumsum(b) >= bound, at + i, at + BV)
            before += tl.sum(b)
            searching = tl.where((end == at + BV) & (at + BV < count), 1, 0)
            count = tl.where(end < at + BV, tl.minimum(count, end + 1), count)
            at += BV
    tl.store(counts + row, count)


@triton.jit(do_not_specialize=["v"])
def noisy_of_kept(x, ids, counts, keys, pairs, v, BV: tl.constexpr, OVERLAP: tl.constexpr):
    """pairs [R, parts] int64: the largest of x + noise of the kept tokens, which are the first counts[row] of x, ids [R, v]."""
    take_turn(OVERLAP)
    row, part, parts = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.num_programs(1)
    i = part * BV + tl.arange(0, BV)
    live = i < tl.load(counts + row)
    token = tl.load(ids + row * v + i, mask=live, other=0).to(tl.int32)
    b = tl.load(x + row * v + i, mask=live, other=float("-inf")) + gumbel(token, keys + row * 3)
    tl.store(pairs + row * parts + part, tl.max(packed(tl.where(live, b, float("-inf")), token)))
