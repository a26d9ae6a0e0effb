"""Experts: a pair's output is that of a linear layer with its expert's weight, whatever else the experts were given."""

import pytest
import torch

from isotherm.kernels.api import Routing
from isotherm.kernels.experts import reference
from isotherm.kernels.routing.group import group

SIZES = [(8, 16), (72, 33), (96, 330)]
each_size = pytest.mark.parametrize(("n", "k"), SIZES, ids=[f"N{n}-K{k}" for n, k in SIZES])


def choices(rows: int, experts: int, k: int) -> torch.Tensor:
    """[rows, k] int32, ascending ids in each row; expert 2 is never chosen and expert 1 by every row."""
    scores = torch.rand(rows, experts)
    scores[:, 1], scores[:, 2] = 2.0, -1.0
    return scores.topk(k).indices.sort(-1).values.int()


@each_size
@pytest.mark.parametrize("rows", [1, 2, 30])
def test_grouped_linear_is_close_to_the_reference(variant, n, k, rows):
    kernels = variant.kernels()
    weight = (torch.randn(7, n, k) * 0.2).to(kernels.dtype)
    x = torch.randn(rows, k).to(kernels.dtype)
    groups = group(choices(rows, 7, 3), 7)
    got = kernels.grouped_linear(x, kernels.pack_experts(weight), groups, True).double()
    expected = reference.grouped_linear(x.double(), weight.double(), groups, True)
    assert (got - expected).norm() <= variant.rounding * expected.norm()


@each_size
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_a_pair_equals_a_linear_layer_on_its_row_alone(variant, n, k, threads):
    kernels = variant.kernels(threads)
    weight, x = torch.randn(7, n, k), torch.randn(50, k).to(kernels.dtype)
    experts = choices(50, 7, 3)
    got = kernels.grouped_linear(x, kernels.pack_experts(weight), group(experts, 7), True)
    packed = [kernels.pack(matrix) for matrix in weight]
    places = group(experts, 7).places
    for row in range(50):
        for place, expert in zip(places[row].tolist(), experts[row].tolist(), strict=True):
            assert torch.equal(got[place], kernels.linear(x[row : row + 1], packed[expert])[0]), (row, expert)


@pytest.mark.parametrize("rows", [1, 2, 5, 13])
def test_a_row_alone_equals_the_row_in_a_batch(variant, rows):
    kernels = variant.kernels(2)
    packed = kernels.pack_experts(torch.randn(7, 72, 40))
    x, experts = torch.randn(13, 40).to(kernels.dtype), choices(13, 7, 3)
    everything, part = group(experts, 7), group(experts[13 - rows :], 7)
    whole = kernels.grouped_linear(x, packed, everything, True)[everything.places[13 - rows :].long()]
    assert torch.equal(kernels.grouped_linear(x[13 - rows :], packed, part, True)[part.places.long()], whole)


def test_gathered_rows_equal_rows_laid_out_by_pair(variant):
    kernels = variant.kernels()
    packed = kernels.pack_experts(torch.randn(7, 72, 40))
    x, groups = torch.randn(9, 40).to(kernels.dtype), group(choices(9, 7, 3), 7)
    laid_out = x[groups.rows.long()]
    gathered = kernels.grouped_linear(x, packed, groups, True)
    assert torch.equal(gathered, kernels.grouped_linear(laid_out, packed, groups, False))


def test_nan_in_one_row_stays_in_its_pairs(variant):
    kernels = variant.kernels()
    packed = kernels.pack_experts(torch.randn(7, 72, 40))
    x, groups = torch.randn(9, 40).to(kernels.dtype), group(choices(9, 7, 3), 7)
    expected = kernels.grouped_linear(x, packed, groups, True)
    x[5] = torch.nan
    got = kernels.grouped_linear(x, packed, groups, True)
    mine = groups.rows == 5
    assert torch.equal(got[~mine], expected[~mine])
    assert got[mine].isnan().all()


def test_groups_list_pairs_by_expert_with_rows_ascending():
    experts = torch.tensor([[1, 4], [0, 1], [1, 4]], dtype=torch.int32)
    groups = group(experts, 6)
    assert groups.rows.tolist() == [1, 0, 1, 2, 0, 2]
    assert groups.offsets.tolist() == [0, 1, 4, 4, 4, 6, 6]
    assert groups.places.tolist() == [[1, 4], [0, 2], [3, 5]]
    assert {t.dtype for t in (groups.rows, groups.offsets, groups.places)} == {torch.int32}


def combined(variant, rows: int, threads: int, shared: bool, gate: bool):
    """combine's arguments for `rows` rows, each row's the same at every `rows`, and its result."""
    kernels = variant.kernels(threads)
    dtype = kernels.dtype
    generator = torch.Generator().manual_seed(3)
    residual, share = (torch.randn(40, 72, generator=generator).to(dtype) for _ in range(2))
    weights, switch = torch.rand(40, 3, generator=generator), torch.randn(40, 1, generator=generator).to(dtype)
    outputs = torch.randn(40, 3, 72, generator=generator).to(dtype)
    experts = torch.rand(40, 7, generator=generator).topk(3).indices.sort(-1).values.int()[:rows]
    groups = group(experts, 7)
    pairs = torch.empty(rows * 3, 72, dtype=dtype)
    pairs[groups.places.long()] = outputs[:rows]
    given = (share[:rows] if shared else None, switch[:rows] if gate else None, residual[:rows])
    arguments = (pairs, Routing(experts, weights[:rows]), groups, *given)
    return arguments, kernels.combine(*arguments)


@pytest.mark.parametrize(
    ("shared", "gate"), [(False, False), (True, False), (True, True)], ids=["none", "shared", "gated"]
)
class TestCombine:
    def test_it_is_close_to_the_reference(self, variant, shared, gate):
        from isotherm.kernels.routing.reference import combine

        (pairs, routing, groups, share, switch, residual), got = combined(variant, 40, 1, shared, gate)
        wide = [None if t is None else t.double() for t in (share, switch, residual)]
        expected = combine(pairs.double(), routing, groups, *wide)
        assert (got.double() - expected).norm() <= variant.rounding * expected.norm()

    @pytest.mark.parametrize("threads", [1, 2, 3, 8])
    @pytest.mark.parametrize("rows", [1, 2, 17, 40])
    def test_a_row_equals_itself_in_any_batch_on_any_threads(self, variant, shared, gate, rows, threads):
        _, whole = combined(variant, 40, 1, shared, gate)
        assert torch.equal(combined(variant, rows, threads, shared, gate)[1], whole[:rows])
