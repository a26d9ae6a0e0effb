"""What the GPU tests of row-wise operations share: the ways in which a row may meet others. Not a test."""

from collections.abc import Callable

import torch
from segmented import equal
from torch import Tensor

ROWS = 300


def random_rows(device: torch.device, columns: int, rows: int = ROWS) -> Tensor:
    """[rows, columns] bfloat16, of sizes that differ by row."""
    scale = torch.logspace(-2, 2, rows, device=device)[:, None]
    return (torch.randn(rows, columns, device=device) * scale).bfloat16()


def relative(a: Tensor, b: Tensor) -> float:
    """|a - b| / |b|."""
    return float((a.double() - b.double()).norm() / b.double().norm())


def rows_are_their_own(call: Callable[..., Tensor], *inputs: Tensor, strided: bool = True) -> None:
    """call(*inputs) gives a row the same bits alone, in any number of rows, in any order, beside rows of NaN, and as a column
    range of a wider matrix, aligned or not."""
    expected = call(*inputs)
    assert torch.isfinite(expected).all()
    device = inputs[0].device
    for first, rows in ((0, 1), (7, 1), (299, 1), (3, 2), (16, 16), (5, 17), (1, 64), (20, 65), (0, 255), (1, 257)):
        own = [x[first : first + rows] for x in inputs]
        assert equal(call(*own), expected[first : first + rows]), (first, rows)
    order = torch.randperm(ROWS, device=device)
    assert equal(call(*(x[order] for x in inputs)), expected[order])
    spoilt = torch.arange(ROWS, device=device) % 3 == 1
    nans = [torch.where(spoilt[:, None], torch.nan, x) if x.is_floating_point() else x for x in inputs]
    assert equal(call(*nans)[~spoilt], expected[~spoilt])
    for before in (8, 3) if strided else ():
        wide = [
            torch.cat([x[:, :1].expand(-1, before), x, x[:, :5]], 1)[:, before : before + x.shape[1]] for x in inputs
        ]
        assert equal(call(*wide), expected), before
