"""Linear layers: close to the reference; equal at every M, place, thread count, address and in any company."""

import pytest
import torch
from torch import Tensor

from isotherm.kernels.linear import reference

SIZES = [(1, 1), (8, 16), (16, 8), (64, 96), (96, 64), (80, 33), (130, 200), (64, 1030), (72, 2049)]
SIZE_IDS = [f"N{n}-K{k}" for n, k in SIZES]
each_size = pytest.mark.parametrize(("n", "k"), SIZES, ids=SIZE_IDS)


def operands(variant, rows: int, n: int, k: int) -> tuple[Tensor, Tensor, Tensor]:
    """x, weight (rounded) and residual."""
    dtype = variant.torch_dtype
    return torch.randn(rows, k).to(dtype), (torch.randn(n, k) * 0.2).to(dtype), torch.randn(rows, n).to(dtype)


def inside_nan(x: Tensor, before: int, after: int) -> Tensor:
    """x as a column range of a wider matrix whose other columns, and the rows around it, are NaN."""
    rows, columns = x.shape
    wide = torch.full((rows + 2, before + columns + after), torch.nan, dtype=x.dtype)
    view = wide[1 : rows + 1, before : before + columns]
    view.copy_(x)
    return view


@each_size
def test_logits_are_close_to_the_float64_product(variant, n, k):
    x, w, _ = operands(variant, 7, n, k)
    kernels = variant.kernels()
    got = kernels.logits(x, kernels.pack(w)).double()
    bound = reference.linear(x.double().abs(), w.double().abs()) * 2**-24 * (k + 1)
    assert ((got - reference.linear(x.double(), w.double())).abs() <= bound).all()


@each_size
def test_the_result_is_the_sum_plus_the_residual_rounded_once(variant, n, k):
    x, w, residual = operands(variant, 5, n, k)
    kernels = variant.kernels()
    packed = kernels.pack(w)
    sums = kernels.logits(x, packed)
    assert torch.equal(kernels.linear(x, packed), sums.to(variant.torch_dtype))
    assert torch.equal(kernels.linear(x, packed, residual), (residual.float() + sums).to(variant.torch_dtype))


@each_size
def test_a_row_alone_equals_the_row_in_every_batch(variant, n, k):
    x, w, residual = operands(variant, 40, n, k)
    kernels = variant.kernels()
    packed = kernels.pack(w)
    whole = kernels.linear(x, packed, residual)
    for rows in (*range(1, 15), 31, 40):
        for first in {0, 3 % (41 - rows), 40 - rows}:
            part = slice(first, first + rows)
            assert torch.equal(kernels.linear(x[part], packed, residual[part]), whole[part]), (rows, first)


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("rows", [1, 2, 33, 120])
def test_threads_change_nothing(variant, threads, rows):
    x, w, residual = operands(variant, rows, 712, 520)
    one, many = variant.kernels(1), variant.kernels(threads)
    packed = one.pack(w)
    assert torch.equal(one.linear(x, packed, residual), many.linear(x, packed, residual))
    assert torch.equal(one.logits(x, packed), many.logits(x, packed))


@pytest.mark.parametrize("before", [0, 1, 3, 8, 17])
@pytest.mark.parametrize("k", [8, 33, 96])
def test_a_column_range_among_nan_at_any_address_equals_a_fresh_matrix(variant, before, k):
    x, w, residual = operands(variant, 9, 72, k)
    kernels = variant.kernels()
    packed = kernels.pack(w)
    expected = kernels.linear(x, packed, residual)
    got = kernels.linear(inside_nan(x, before, 5), packed, inside_nan(residual, before, 3))
    assert torch.equal(got, expected)


def test_fault_29_nan_in_one_row_stays_in_that_row(variant):
    x, w, residual = operands(variant, 13, 80, 65)
    kernels = variant.kernels()
    packed = kernels.pack(w)
    expected = kernels.linear(x, packed, residual)
    x[4], residual[9, 3] = torch.nan, torch.nan
    got = kernels.linear(x, packed, residual)
    keep = [row for row in range(13) if row not in (4, 9)]
    assert torch.equal(got[keep], expected[keep])
    assert got[4].isnan().all()
    assert got[9].isnan().nonzero().flatten().tolist() == [3]


@pytest.mark.parametrize("n", [1, 8, 16, 63, 64, 65, 100])
def test_a_column_does_not_depend_on_how_many_columns_there_are(c_variant, n):
    x, w, _ = operands(c_variant, 6, 130, 70)
    kernels = c_variant.kernels()
    assert torch.equal(kernels.logits(x, kernels.pack(w[:n])), kernels.logits(x, kernels.pack(w))[:, :n])


@each_size
def test_embedding_gives_the_rounded_rows_of_the_packed_weight(variant, n, k):
    kernels = variant.kernels(2)
    weight = torch.randn(n, k)
    tokens = torch.randint(0, n, (50,), dtype=torch.int32)
    assert torch.equal(kernels.embed(tokens, kernels.pack(weight)), reference.embed(tokens, weight.to(kernels.dtype)))


def test_no_rows_are_no_rows(variant):
    x, w, residual = operands(variant, 0, 70, 40)
    kernels = variant.kernels(2)
    assert kernels.linear(x, kernels.pack(w), residual).shape == (0, 70)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x.double(), "x: must be a torch"),
        (lambda x: x[:, :-1], "x: must be"),
        (lambda x: x.t().contiguous().t(), "x: must have unit column stride"),
    ],
    ids=["dtype", "columns", "stride"],
)
def test_a_wrong_argument_is_named(c_variant, change, message):
    x, w, _ = operands(c_variant, 3, 64, 16)
    kernels = c_variant.kernels()
    with pytest.raises(ValueError, match=message):
        kernels.linear(change(x), kernels.pack(w))


def test_rows_of_tiny_and_huge_numbers_are_the_same_in_every_batch(variant):
    """Exponents from subnormal to near overflow: instructions that take subnormals for zero must do so for every row."""
    n, k, rows = 80, 200, 40
    scales = torch.logspace(-38, 37, k, base=10.0)
    x = (torch.randn(rows, k) * scales).to(variant.torch_dtype)
    w = (torch.randn(n, k) / scales.flip(0) * 1e-30).clamp(-1e38, 1e38).to(variant.torch_dtype)
    kernels = variant.kernels()
    packed = kernels.pack(w)
    whole = kernels.logits(x, packed).view(torch.int32)
    for part in (1, 2, 3, 7, 16, 33):
        for first in (0, rows - part):
            alone = kernels.logits(x[first : first + part].contiguous(), packed).view(torch.int32)
            assert torch.equal(alone, whole[first : first + part]), (part, first)


def test_subnormals_outside_of_kernels_are_left_alone(variant):
    kernels = variant.kernels()
    x, w, _ = operands(variant, 3, 64, 64)
    kernels.logits(x, kernels.pack(w))
    assert float(torch.tensor(1e-30) * torch.tensor(1e-10)) > 0
