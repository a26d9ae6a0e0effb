"""Hyper-connections: close to the reference; equal in every batch, at every address, on any threads."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from isotherm.kernels.streams import reference

EPS = 1e-6


@dataclass(frozen=True)
class Operation:
    """widths: of each input, in streams and hidden columns. call: on a provider; definition: in float64."""

    widths: Callable[[int, int], tuple[int, ...]]
    call: Callable[..., Tensor]
    definition: Callable[..., Tensor]


def weight_of(columns: int) -> Tensor:
    return torch.rand(columns, generator=torch.Generator().manual_seed(5)) + 0.5


OPERATIONS = {
    "stream_norm": Operation(
        lambda s, h: (s * h,),
        lambda k, s, x: k.stream_norm(x, weight_of(x.shape[1]), EPS, s),
        lambda s, x: reference.stream_norm(x, weight_of(x.shape[1]).double(), EPS, s),
    ),
    "stream_mix": Operation(
        lambda s, h: (s * h, s * h),
        lambda k, s, x, g: k.stream_mix(x, g, s),
        lambda s, x, g: reference.stream_mix(x, g, s),
    ),
    "stream_add": Operation(
        lambda s, h: (s * h, h, s),
        lambda k, s, x, y, g: k.stream_add(x, y, g),
        lambda s, x, y, g: reference.stream_add(x, y, g),
    ),
    "scaled_silu": Operation(
        lambda s, h: (h,), lambda k, s, x: k.scaled_silu(x, s), lambda s, x: reference.scaled_silu(x, s)
    ),
    "stream_gate": Operation(
        lambda s, h: (s * h, s * h, h),
        lambda k, s, *x: k.stream_gate(*x, s),
        lambda s, *x: reference.stream_gate(*x, s),
    ),
    "stream_sum": Operation(
        lambda s, h: (s * h, s * h, s * h), lambda k, s, *x: k.stream_sum(*x), lambda s, *x: reference.stream_sum(*x)
    ),
}
each_operation = pytest.mark.parametrize("name", OPERATIONS)
each_shape = pytest.mark.parametrize(("streams", "hidden"), [(2, 8), (3, 33), (4, 96), (4, 640)])


def inputs(variant, name: str, rows: int, streams: int, hidden: int) -> list[Tensor]:
    return [(torch.randn(rows, w) * 2).to(variant.torch_dtype) for w in OPERATIONS[name].widths(streams, hidden)]


@each_operation
@each_shape
def test_it_is_close_to_the_reference(variant, name, streams, hidden):
    operation, given = OPERATIONS[name], inputs(variant, name, 5, streams, hidden)
    got = operation.call(variant.kernels(), streams, *given).double()
    expected = operation.definition(streams, *(x.double() for x in given))
    assert ((got - expected).abs() <= variant.rounding * expected.abs() + 3e-6).all()


@each_operation
@each_shape
def test_a_row_alone_equals_the_row_in_every_batch(variant, name, streams, hidden):
    operation, given, kernels = OPERATIONS[name], inputs(variant, name, 17, streams, hidden), variant.kernels()
    whole = operation.call(kernels, streams, *given)
    for rows in (1, 2, 5, 16):
        for first in (0, 17 - rows):
            part = slice(first, first + rows)
            assert torch.equal(operation.call(kernels, streams, *(x[part] for x in given)), whole[part]), (rows, first)


@each_operation
@pytest.mark.parametrize("before", [0, 1, 5])
def test_a_column_range_among_nan_equals_a_fresh_matrix(variant, name, before):
    operation, given, kernels = OPERATIONS[name], inputs(variant, name, 6, 3, 40), variant.kernels()
    views = []
    for x in given:
        wide = torch.full((8, before + x.shape[1] + 7), torch.nan, dtype=x.dtype)
        views.append(wide[1:7, before : before + x.shape[1]].copy_(x))
    assert torch.equal(operation.call(kernels, 3, *views), operation.call(kernels, 3, *given))


@each_operation
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_change_nothing(variant, name, threads):
    operation, given = OPERATIONS[name], inputs(variant, name, 67, 4, 250)
    one, many = variant.kernels(1), variant.kernels(threads)
    assert torch.equal(operation.call(many, 4, *given), operation.call(one, 4, *given))


def test_a_gate_of_nothing_is_a_half(variant):
    """k . q = 0 has no sign, so its root is 0, not that of the least size."""
    zeros, value = torch.zeros(1, 6).to(variant.torch_dtype), torch.ones(1, 3).to(variant.torch_dtype)
    assert (variant.kernels().stream_gate(zeros, zeros, value, 2) == 0.5).all()
