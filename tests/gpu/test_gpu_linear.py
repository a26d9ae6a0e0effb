"""Products on the GPU: close to float64, and a row's bits are its own at every row count and in every tile."""

import pytest
import torch
from torch import Tensor

pytest.importorskip("triton", reason="Triton is not installed")

from isotherm.kernels.api import Linear
from isotherm.kernels.linear import tune
from isotherm.kernels.linear.fp8 import FP8, dequantized
from isotherm.kernels.linear.tiles import UNTUNED, load_table
from isotherm.kernels.linear.triton_form import embed, linear, logits, pack, pack_fp8, product

SHAPES = [(2048, 4096), (12352, 2048), (1024, 5120), (100, 96)]
PARTS = [(0, 700), (5, 1), (77, 3), (100, 16), (101, 17), (64, 64), (130, 100), (150, 500)]
"""(first row, rows)."""


def data(device: torch.device, n: int, k: int) -> tuple[Tensor, Linear, Tensor]:
    x = torch.randn(700, k, device=device).bfloat16()
    return (
        x,
        pack(torch.bfloat16, torch.randn(n, k, device=device) * 0.02, device),
        torch.randn(700, n, device=device).bfloat16(),
    )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_are_close_to_float64(device: torch.device, shape: tuple[int, int]) -> None:
    x, weight, residual = data(device, *shape)
    table = load_table(torch.cuda.get_device_name())
    expected = residual.double() + x.double() @ weight.data.double().T
    assert float((linear(table, x, weight, residual).double() - expected).norm() / expected.norm()) < 3e-3
    sums = x.double() @ weight.data.double().T
    assert float((logits(x, weight).double() - sums).norm() / sums.norm()) < 1e-5


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_tile_gives_every_row_the_same_bits(device: torch.device, shape: tuple[int, int]) -> None:
    x, weight, residual = data(device, *shape)
    tiles = dict.fromkeys((*(tile for _, tile in UNTUNED), *tune.FEW, *tune.SOME, *tune.MANY))
    fresh = torch.full((700, shape[0]), torch.nan, device=device).bfloat16()
    expected = product(x, weight, residual, fresh.clone(), tune.REFERENCE)
    tried = 0
    for tile in tiles:
        for first, rows in PARTS:
            own = slice(first, first + rows)
            try:
                y = product(x[own], weight, residual[own], fresh[own].clone(), tile)
            except Exception as error:
                assert "OutOfResources" in type(error).__name__
                break
            assert torch.equal(y, expected[own]), (tile, first, rows)
            tried += 1
    assert tried > 200


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_table_changes_no_bit_between_row_counts(device: torch.device, shape: tuple[int, int]) -> None:
    x, weight, residual = data(device, *shape)
    table = load_table(torch.cuda.get_device_name())
    expected = linear(table, x, weight, residual)
    for first, rows in PARTS:
        own = slice(first, first + rows)
        assert torch.equal(linear(table, x[own], weight, residual[own]), expected[own])


def test_a_column_range_of_a_wider_tensor_is_an_input_like_any_other(device: torch.device) -> None:
    wide = torch.randn(40, 3000, device=device).bfloat16()
    weight = pack(torch.bfloat16, torch.randn(256, 512, device=device), device)
    table = load_table(torch.cuda.get_device_name())
    for first in (8, 11):  # aligned for descriptors, and not
        own = wide[:, first : first + 512]
        assert torch.equal(linear(table, own, weight), linear(table, own.contiguous(), weight))


def test_embedding_is_a_row_of_the_table(device: torch.device) -> None:
    table = pack(torch.bfloat16, torch.randn(50, 3000, device=device), device)
    tokens = torch.tensor([3, 49, 0, 3], device=device, dtype=torch.int32)
    assert torch.equal(embed(tokens, table), table.data[tokens.long()])


@pytest.mark.xfail(
    reason="tiles of 16 rows give FP8 weights other bits than bfloat16 ones, why is not known; nothing loads them yet"
)
@pytest.mark.parametrize("shape", [(2048, 4096), (1000, 1536), (100, 96)], ids=str)
def test_a_weight_in_fp8_is_the_weight_it_stands_for(device: torch.device, shape: tuple[int, int]) -> None:
    """To the bit, at every row count and in every tile."""
    n, k = shape
    x, _, residual = data(device, n, k)
    q = (torch.randn(n, k, device=device) * 30).to(FP8)
    scales = torch.rand(-(-n // 128), -(-k // 128), device=device) * 1e-3
    ours, same = pack_fp8(q, scales, device), pack(torch.bfloat16, dequantized(q, scales), device)
    assert torch.equal(dequantized(q.cpu(), scales.cpu()), same.data.cpu())
    table = load_table(torch.cuda.get_device_name())
    expected = linear(table, x, same, residual)
    for first, rows in PARTS:
        own = slice(first, first + rows)
        assert torch.equal(linear(table, x[own], ours, residual[own]), expected[own]), (first, rows)
    for _, tile in UNTUNED:
        fresh = torch.full((700, n), torch.nan, device=device).bfloat16()
        assert torch.equal(product(x, ours, residual, fresh, tile), expected), tile
    assert torch.equal(logits(x, ours), logits(x, same))
