"""Products on the GPU: close to float64, and a row's bits are its own at every row count and in every tile."""

import pytest
import torch
from torch import Tensor

pytest.importorskip("triton", reason="Triton is not installed")

from isotherm.kernels.api import Linear
from isotherm.kernels.linear import triton_fp8_form as fp8_form
from isotherm.kernels.linear import tune
from isotherm.kernels.linear.fp8 import Fp8Linear
from isotherm.kernels.linear.tiles import UNTUNED, ProductTile, load_table
from isotherm.kernels.linear.triton_form import embed, linear, logits, pack, product
from isotherm.kernels.weight import FP8, Fp8Weight

SHAPES = [(2048, 4096), (12352, 2048), (1024, 5120), (100, 96)]
PARTS = [(0, 700), (5, 1), (77, 3), (100, 16), (101, 17), (64, 64), (130, 100), (150, 500)]
"""(first row, rows)."""
FP8_TILES = [
    *(tile for _, tile in fp8_form.FEW),
    *fp8_form.MANY,
    fp8_form.NARROW,
    ProductTile(16, 32, 128, 2, 4),
    ProductTile(64, 32, 64, 4, 3),
    ProductTile(16, 128, 128, 8, 3),
    ProductTile(16, 64, 32, 4, 5),
    ProductTile(64, 128, 64, 4, 4),
    ProductTile(256, 128, 64, 8, 2),
]


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


@pytest.mark.parametrize("shape", [(2048, 4096), (1000, 1536), (100, 96)], ids=str)
def test_a_weight_in_fp8_is_the_weight_it_stands_for(device: torch.device, shape: tuple[int, int]) -> None:
    """To the bit, at every row count and in every tile."""
    n, k = shape
    x, _, residual = data(device, n, k)
    q = (torch.randn(n, k, device=device) * 30).to(FP8)
    weight = Fp8Weight.of_blocks(q, torch.rand(-(-n // 128), -(-k // 128), device=device) * 1e-3)
    turned = weight.rows(torch.arange(n, device=device).roll(40))  # rows that no longer begin a block
    table = load_table(torch.cuda.get_device_name())
    for own_scales, shared in ((weight, 128), (turned, 8)):
        ours, same = pack(torch.bfloat16, own_scales, device), pack(torch.bfloat16, own_scales.dequantized(), device)
        assert isinstance(ours, Fp8Linear) and (n < 128 or ours.shared == shared)
        expected = linear(table, x, same, residual)
        for first, rows in PARTS:
            own = slice(first, first + rows)
            assert torch.equal(linear(table, x[own], ours, residual[own]), expected[own]), (first, rows)
        for tile in FP8_TILES:
            fresh = torch.full((700, n), torch.nan, device=device).bfloat16()
            assert torch.equal(fp8_form.product(x, ours, residual, fresh, tile), expected), tile
        assert torch.equal(logits(x, ours), logits(x, same))


def test_fp8_is_dequantised_as_on_the_cpu(device: torch.device) -> None:
    q = torch.arange(256, dtype=torch.uint8).repeat(128).view(FP8).view(256, 128)
    weight = Fp8Weight.of_blocks(q, torch.rand(2, 1) * 1e-3)
    ours = Fp8Weight(weight.data.to(device), weight.scales.to(device)).dequantized()
    expected = weight.dequantized()
    finite = expected.isfinite()
    assert torch.equal(ours.cpu()[finite], expected[finite]) and bool(ours.cpu()[~finite].isnan().all())
    columns = torch.eye(128, device=device).bfloat16()  # a product that copies the weight
    clean = Fp8Weight(torch.where(finite, q.view(torch.uint8), 0).view(FP8), weight.scales)
    copied = linear(load_table(torch.cuda.get_device_name()), columns, pack(torch.bfloat16, clean, device))
    assert torch.equal(copied.T.cpu(), clean.dequantized())
