"""Paged attention on the GPU: close to its definition, and equal however it is cut, whichever tile and path computes it."""

from dataclasses import dataclass

import pytest
import segmented as seg
import torch
from torch import Tensor

pytest.importorskip("triton", reason="Triton is not installed")

from isotherm.kernels.attention import plan
from isotherm.kernels.attention.reference import attention as definition
from isotherm.kernels.attention.triton_form import FEW, TILES, AttentionTile, attention, kv_store, write_kv
from isotherm.kernels.batch import Batch
from isotherm.kernels.gpu.batch import DeviceBatch
from isotherm.kernels.state import KVShape

LONG, SHORT = (4700, 1, 64, 65, 2200), (300, 64, 130)


@dataclass(frozen=True)
class Heads:
    """group query heads read each of `heads` key-value heads of `dim` columns."""

    heads: int
    group: int
    dim: int

    @property
    def widths(self) -> list[int]:
        return [self.heads * self.group * self.dim, self.heads * self.dim, self.heads * self.dim]


SHAPES = [Heads(2, 8, 256), Heads(4, 6, 256), Heads(2, 4, 128)]


def data(shape: Heads, lengths: tuple[int, ...], device: torch.device) -> list[Tensor]:
    return [torch.randn(n, sum(shape.widths), device=device).bfloat16() for n in lengths]


def run(
    shape: Heads,
    inputs: list[Tensor],
    passes: list[seg.Pass],
    seed: int = 0,
    tiles: dict[int, AttentionTile] | None = None,
    skip: int = 0,
) -> list[Tensor]:
    ledger = seg.Ledger([len(x) for x in inputs], seed)
    store = kv_store(torch.bfloat16, KVShape(shape.heads, shape.dim), ledger.block_count, inputs[0].device)
    seg.poison(store.k, store.v)

    def call(host: Batch, x: Tensor) -> Tensor:
        batch = DeviceBatch.of(host, x.device)
        q, k, v = x.split(shape.widths, dim=1)
        write_kv(batch, k, v, store)
        return attention(batch, q, store, shape.dim**-0.5, skip, tiles=tiles)

    return seg.play(inputs, passes, ledger, call)


def equal(a: list[Tensor], b: list[Tensor]) -> bool:
    return all(map(seg.equal, a, b))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_are_close_to_the_definition(device: torch.device, shape: Heads) -> None:
    inputs = data(shape, SHORT, device)
    for x, y in zip(inputs, run(shape, inputs, seg.whole(SHORT)), strict=True):
        expected = definition(*x.double().cpu().split(shape.widths, dim=1), shape.heads, shape.dim**-0.5)
        assert float((y.double().cpu() - expected).norm() / expected.norm()) < 1e-2


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_alone_and_in_batches_are_equal_to_whole_sequences(device: torch.device, shape: Heads) -> None:
    inputs = data(shape, SHORT, device)
    expected = run(shape, inputs, seg.whole(SHORT))
    assert equal(run(shape, inputs, seg.one_by_one(SHORT), 1), expected)
    for seed in range(4):
        assert equal(run(shape, inputs, seg.batched(SHORT, seed), seed), expected), seed


def test_rows_that_see_several_splits_are_equal_too(device: torch.device, monkeypatch: pytest.MonkeyPatch) -> None:
    shape = SHAPES[0]
    inputs = data(shape, LONG, device)
    expected = run(shape, inputs, seg.whole(LONG))
    for seed in range(3):
        assert equal(run(shape, inputs, seg.batched(LONG, seed), seed), expected), seed
    by_pointer = {pairs: AttentionTile(tile.warps, tile.stages, descriptor=False) for pairs, tile in TILES.items()}
    for tiles in (TILES, FEW, by_pointer):
        assert equal(run(shape, inputs, seg.batched(LONG, 5), 5, tiles), expected), tiles
    monkeypatch.setattr(plan, "WAITING_PAIRS", 0)  # one program walks all splits of a tile
    assert equal(run(shape, inputs, seg.whole(LONG)), expected)
    assert equal(run(shape, inputs, seg.batched(LONG, 7), 7), expected)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_key_0_can_be_left_out(device: torch.device, shape: Heads) -> None:
    """For every row beyond position 0, however sequences are cut and in one split or several."""
    for lengths, way in ((SHORT, 1), (LONG, 2)):
        inputs = data(shape, lengths, device)
        expected = run(shape, inputs, seg.whole(lengths), skip=1)
        assert equal(run(shape, inputs, seg.batched(lengths, way), way, skip=1), expected)
        for x, y in zip(inputs, expected, strict=True):
            if len(x) > 1 and len(x) < 1000:
                q, k, v = x[1:].double().cpu().split(shape.widths, dim=1)
                rest = definition(q, k, v, shape.heads, shape.dim**-0.5)
                assert float((y[1:].double().cpu() - rest).norm() / rest.norm()) < 1e-2
            first = x[0].split(shape.widths)[2].view(shape.heads, shape.dim).repeat_interleave(shape.group, 0)
            assert torch.equal(y[0], first.flatten())
