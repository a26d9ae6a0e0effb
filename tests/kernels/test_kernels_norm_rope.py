"""Per-head norm and rotation: close to the definition, and equal however rows are grouped."""

import pytest
import segmented as seg
import torch
from torch import Tensor

from isotherm.kernels.api import RopeTable
from isotherm.kernels.rope.reference import norm_rope

SHAPES = [(2, 16, 8), (3, 33, 10), (1, 8, 8), (2, 96, 24), (4, 64, 0)]
EPS = 1e-6


def table(rotary: int) -> RopeTable:
    """Angles of 400 positions."""
    angles = torch.outer(torch.arange(400.0), 10000.0 ** -torch.linspace(0, 1, rotary // 2 + 1)[: rotary // 2])
    return RopeTable(angles.cos().contiguous(), angles.sin().contiguous())


def data(dtype: torch.dtype, heads: int, dim: int, rows: int = 70) -> tuple[Tensor, Tensor, Tensor]:
    random = torch.Generator().manual_seed(4)
    x = torch.randn(rows, heads * dim, generator=random).to(dtype)
    return (
        x,
        1 + 0.1 * torch.randn(dim, generator=random),
        torch.randint(0, 400, (rows,), generator=random, dtype=torch.int32),
    )


@pytest.mark.parametrize("name", seg.PROVIDERS)
@pytest.mark.parametrize("heads, dim, rotary", SHAPES)
def test_rows_are_close_to_the_definition(name: str, heads: int, dim: int, rotary: int) -> None:
    kernels = seg.provider(name)
    x, weight, positions = data(kernels.dtype, heads, dim)
    angles = table(rotary)
    y = kernels.norm_rope(x, weight, EPS, positions, angles)
    expected = norm_rope(x.double(), weight.double(), EPS, positions, angles.cos.double(), angles.sin.double())
    torch.testing.assert_close(y.double(), expected, rtol=2**-8 if kernels.dtype == torch.bfloat16 else 1e-5, atol=1e-5)


@pytest.mark.parametrize("name", seg.PROVIDERS)
@pytest.mark.parametrize("heads, dim, rotary", SHAPES)
def test_a_row_alone_is_equal_to_the_row_among_others(name: str, heads: int, dim: int, rotary: int) -> None:
    kernels = seg.provider(name)
    x, weight, positions = data(kernels.dtype, heads, dim)
    expected = kernels.norm_rope(x, weight, EPS, positions, table(rotary))
    for i in range(len(x)):
        assert seg.equal(
            kernels.norm_rope(x[i : i + 1], weight, EPS, positions[i : i + 1], table(rotary)), expected[i : i + 1]
        )
    wide = torch.full((len(x), x.shape[1] + 9), torch.nan, dtype=x.dtype)
    wide[:, 3 : 3 + x.shape[1]] = x
    assert seg.equal(kernels.norm_rope(wide[:, 3 : 3 + x.shape[1]], weight, EPS, positions, table(rotary)), expected)


@pytest.mark.parametrize("name", seg.BEST)
def test_threads_change_nothing(name: str) -> None:
    x, weight, positions = data(seg.provider(name).dtype, 8, 96, rows=100)
    results = [seg.provider(name, n).norm_rope(x, weight, EPS, positions, table(24)) for n in seg.THREADS]
    assert all(seg.equal(result, results[0]) for result in results[1:])


@pytest.mark.parametrize("name", seg.BEST)
def test_heads_that_do_not_divide_the_row_are_refused(name: str) -> None:
    kernels = seg.provider(name)
    x, weight, positions = data(kernels.dtype, 2, 16)
    with pytest.raises(ValueError, match="heads of 24"):
        kernels.norm_rope(x, torch.ones(24), EPS, positions, table(8))
    assert weight.shape == (16,)
