"""Operations on rows, norms and gates: close to the reference; equal in every batch, at every address, on any threads."""

import pytest
import torch
from torch import Tensor

from isotherm.kernels.activation import reference as activation
from isotherm.kernels.norm import reference as norm

EPS = 1e-6
WIDTHS = [8, 16, 33, 96, 1000, 2049]


def weight_of(width: int) -> Tensor:
    return torch.rand(width, generator=torch.Generator().manual_seed(5)) + 0.5


OPERATIONS = {
    "rms_norm": (1, lambda k, x: k.rms_norm(x, weight_of(x.shape[1]), EPS)),
    "gated_rms_norm": (2, lambda k, x, g: k.gated_rms_norm(x, g, weight_of(x.shape[1]), EPS)),
    "sigmoid_gated_rms_norm": (2, lambda k, x, g: k.sigmoid_gated_rms_norm(x, g, weight_of(x.shape[1]), EPS)),
    "silu_mul": (1, lambda k, x: k.silu_mul(x)),
    "sigmoid_mul": (2, lambda k, x, g: k.sigmoid_mul(x, g)),
}
REFERENCES = {
    "rms_norm": lambda x: norm.rms_norm(x, weight_of(x.shape[1]).double(), EPS),
    "gated_rms_norm": lambda x, g: norm.gated_rms_norm(x, g, weight_of(x.shape[1]).double(), EPS),
    "sigmoid_gated_rms_norm": lambda x, g: norm.sigmoid_gated_rms_norm(x, g, weight_of(x.shape[1]).double(), EPS),
    "silu_mul": activation.silu_mul,
    "sigmoid_mul": activation.sigmoid_mul,
}
each_operation = pytest.mark.parametrize("operation", OPERATIONS)
each_width = pytest.mark.parametrize("width", WIDTHS)


def inputs(variant, operation: str, rows: int, width: int) -> list[Tensor]:
    """The operation's matrices; silu_mul's holds two halves of `width` columns."""
    columns = 2 * width if operation == "silu_mul" else width
    return [(torch.randn(rows, columns) * 2).to(variant.torch_dtype) for _ in range(OPERATIONS[operation][0])]


@each_operation
@each_width
def test_it_is_close_to_the_reference(variant, operation, width):
    given = inputs(variant, operation, 5, width)
    got = OPERATIONS[operation][1](variant.kernels(), *given).double()
    expected = REFERENCES[operation](*(x.double() for x in given))
    assert ((got - expected).abs() <= variant.rounding * expected.abs() + 1e-7).all()


@each_operation
@each_width
def test_a_row_alone_equals_the_row_in_every_batch(variant, operation, width):
    given, kernels, f = inputs(variant, operation, 17, width), variant.kernels(), OPERATIONS[operation][1]
    whole = f(kernels, *given)
    for rows in (1, 2, 3, 5, 8, 16):
        for first in (0, 17 - rows):
            part = slice(first, first + rows)
            assert torch.equal(f(kernels, *(x[part] for x in given)), whole[part]), (rows, first)


@each_operation
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_change_nothing(variant, operation, threads):
    given, f = inputs(variant, operation, 67, 1000), OPERATIONS[operation][1]
    assert torch.equal(f(variant.kernels(threads), *given), f(variant.kernels(1), *given))


@each_operation
@pytest.mark.parametrize("before", [0, 1, 5, 19])
def test_a_column_range_among_nan_equals_a_fresh_matrix(variant, operation, before):
    given, kernels, f = inputs(variant, operation, 6, 40), variant.kernels(), OPERATIONS[operation][1]
    views = []
    for x in given:
        wide = torch.full((8, before + x.shape[1] + 7), torch.nan, dtype=x.dtype)
        views.append(wide[1:7, before : before + x.shape[1]].copy_(x))
    assert torch.equal(f(kernels, *views), f(kernels, *given))


@each_operation
def test_fault_29_nan_in_one_row_stays_in_that_row(variant, operation):
    given, kernels, f = inputs(variant, operation, 6, 40), variant.kernels(), OPERATIONS[operation][1]
    expected = f(kernels, *given)
    given[0][2] = torch.nan
    keep = [0, 1, 3, 4, 5]
    assert torch.equal(f(kernels, *given)[keep], expected[keep])


@pytest.mark.parametrize("heads", [1, 3, 16])
def test_a_head_is_normalised_alike_wherever_it_lies(variant, heads):
    kernels, d = variant.kernels(2), 24
    x, gate = (torch.randn(9, heads * d).to(variant.torch_dtype) for _ in range(2))
    whole = kernels.gated_rms_norm(x, gate, weight_of(d), EPS)
    for head in range(heads):
        part = slice(head * d, head * d + d)
        assert torch.equal(kernels.gated_rms_norm(x[:, part], gate[:, part], weight_of(d), EPS), whole[:, part])


@pytest.mark.parametrize("width", [8, 16, 96])
def test_a_gate_depends_on_its_element_alone(c_variant, width):
    """The kind of fault that a vector loop with a scalar tail has: an element's bits depend on its column."""
    kernels = c_variant.kernels()
    gate = torch.linspace(-9, 9, 23).to(kernels.dtype)
    x = torch.full((23, width + 1), 1.25, dtype=kernels.dtype)
    got = kernels.sigmoid_mul(x, gate[:, None].expand(-1, width + 1).contiguous())
    assert all(torch.equal(got[:, column], got[:, 0]) for column in range(width + 1))
