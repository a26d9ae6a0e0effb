"""Paged attention: close to its definition, and equal however it is cut."""

from dataclasses import dataclass

import pytest
import segmented as seg
import torch
from torch import Tensor

from isotherm.kernels.api import Kernels
from isotherm.kernels.attention.reference import attention
from isotherm.kernels.batch import Batch
from isotherm.kernels.state import KVShape, KVStore


@dataclass(frozen=True)
class Heads:
    """group query heads read each of `heads` key-value heads of `dim` columns."""

    heads: int
    dim: int
    group: int

    @property
    def widths(self) -> list[int]:
        return [self.heads * self.group * self.dim, self.heads * self.dim, self.heads * self.dim]

    @property
    def scale(self) -> float:
        return self.dim**-0.5


SHAPES = [Heads(2, 16, 4), Heads(1, 8, 2), Heads(2, 33, 3), Heads(1, 96, 1), Heads(1, 24, 9)]
SMALL, TINY = SHAPES[0], SHAPES[1]


def data(kernels: Kernels, shape: Heads, lengths: tuple[int, ...]) -> list[Tensor]:
    """Rows [T, q | k | v] of each sequence."""
    random = torch.Generator().manual_seed(3)
    return [(1.5 * torch.randn(n, sum(shape.widths), generator=random)).to(kernels.dtype) for n in lengths]


def poisoned_store(kernels: Kernels, shape: Heads, ledger: seg.Ledger) -> KVStore:
    store = kernels.kv_store(KVShape(shape.heads, shape.dim), ledger.block_count)
    seg.poison(store.k, store.v)
    return store


def run(kernels: Kernels, shape: Heads, inputs: list[Tensor], passes: list[seg.Pass], seed: int = 0) -> list[Tensor]:
    """Each sequence's outputs, then its blocks' bytes one after the other."""
    ledger = seg.Ledger([len(x) for x in inputs], seed)
    store = poisoned_store(kernels, shape, ledger)

    def call(batch: Batch, x: Tensor) -> Tensor:
        q, k, v = x.split(shape.widths, dim=1)
        kernels.write_kv(batch, k, v, store)
        return kernels.attention(batch, q, store, shape.scale)

    outputs = seg.play(inputs, passes, ledger, call)
    return outputs + [side[blocks] for blocks in ledger.blocks for side in (store.k, store.v)]


def equals(a: list[Tensor], b: list[Tensor]) -> bool:
    return all(map(seg.equal, a, b))


@pytest.mark.parametrize("name", seg.PROVIDERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_are_close_to_the_definition(name: str, shape: Heads) -> None:
    kernels, lengths = seg.provider(name), (150, 64, 1)
    inputs = data(kernels, shape, lengths)
    for x, y in zip(inputs, run(kernels, shape, inputs, seg.whole(lengths)), strict=False):
        expected = attention(*x.double().split(shape.widths, dim=1), shape.heads, shape.scale)
        bound = 1e-2 if kernels.dtype == torch.bfloat16 else 1e-5
        assert float((y.double() - expected).norm() / expected.norm()) < bound


@pytest.mark.parametrize("name", seg.BEST)
def test_long_rows_are_close_to_the_definition(name: str) -> None:
    kernels, lengths = seg.provider(name), (2300,)
    inputs = data(kernels, TINY, lengths)
    expected = attention(*inputs[0].double().split(TINY.widths, dim=1), TINY.heads, TINY.scale)
    y = run(kernels, TINY, inputs, seg.whole(lengths))[0]
    assert float((y.double() - expected).norm() / expected.norm()) < (1e-2 if kernels.dtype == torch.bfloat16 else 1e-5)


@pytest.mark.parametrize("name", seg.PROVIDERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_row_at_a_time_and_in_batches_is_equal_to_whole_sequences(name: str, shape: Heads) -> None:
    kernels, lengths = seg.provider(name), seg.lengths(name)
    inputs = data(kernels, shape, lengths)
    expected = run(kernels, shape, inputs, seg.whole(lengths))
    assert equals(run(kernels, shape, inputs, seg.one_by_one(lengths), seed=1), expected)
    for seed in range(3):
        assert equals(run(kernels, shape, inputs, seg.batched(lengths, seed), seed), expected)


@pytest.mark.parametrize("name", seg.BEST)
def test_base_head_size_is_equal_row_by_row(name: str) -> None:
    kernels, shape, lengths = seg.provider(name), Heads(2, 256, 4), (150,)
    inputs = data(kernels, shape, lengths)
    expected = run(kernels, shape, inputs, seg.whole(lengths))
    assert equals(run(kernels, shape, inputs, seg.one_by_one(lengths), seed=1), expected)


@pytest.mark.parametrize("name", seg.BEST)
def test_every_cut_is_equal(name: str) -> None:
    kernels, lengths = seg.provider(name), (300,)
    inputs = data(kernels, SMALL, lengths)
    expected = run(kernels, SMALL, inputs, seg.whole(lengths))
    for cut in range(1, 300):
        assert equals(run(kernels, SMALL, inputs, seg.halves(lengths, cut), seed=cut), expected), cut


@pytest.mark.parametrize("name", seg.BEST)
@pytest.mark.parametrize("threads", seg.THREADS)
def test_split_edges_are_equal_whether_strips_or_splits_go_to_threads(name: str, threads: int) -> None:
    """Contexts of three splits: a long prefill has enough strips for every thread, one row has not."""
    lengths = (2200, 1023, 1024, 1025)
    inputs = data(seg.provider(name), TINY, lengths)
    expected = run(seg.provider(name, 1), TINY, inputs, seg.whole(lengths))
    kernels = seg.provider(name, threads)
    assert equals(run(kernels, TINY, inputs, seg.one_by_one(lengths) if threads < 8 else seg.whole(lengths)), expected)
    for cut in (1, 960, 1000, 1023):
        assert equals(run(kernels, TINY, inputs, seg.halves(lengths, cut)), expected)
    assert equals(run(kernels, TINY, inputs, seg.batched(lengths, 7)), expected)


@pytest.mark.parametrize("name", seg.PROVIDERS)
def test_threads_change_nothing(name: str) -> None:
    lengths = seg.lengths(name)
    inputs = data(seg.provider(name), SMALL, lengths)
    results = [run(seg.provider(name, n), SMALL, inputs, seg.batched(lengths, 5)) for n in seg.THREADS]
    assert all(equals(result, results[0]) for result in results[1:])


@pytest.mark.parametrize("name", seg.BEST)
def test_scores_far_apart_stay_finite_and_equal(name: str) -> None:
    kernels, lengths = seg.provider(name), (200,)
    inputs = data(kernels, SMALL, lengths)
    inputs[0][:, : SMALL.widths[0]] *= 300
    expected = run(kernels, SMALL, inputs, seg.whole(lengths))
    assert expected[0].isfinite().all()
    assert equals(run(kernels, SMALL, inputs, seg.one_by_one(lengths)), expected)


@pytest.mark.parametrize("name", seg.BEST)
def test_a_block_is_the_same_bytes_from_prefill_and_from_decode_and_every_byte_is_written(name: str) -> None:
    kernels, shape, lengths = seg.provider(name), Heads(2, 33, 3), (128,)
    inputs = data(kernels, shape, lengths)
    _, *prefill = run(kernels, shape, inputs, seg.whole(lengths))
    _, *decode = run(kernels, shape, inputs, seg.one_by_one(lengths))
    assert equals(prefill, decode)
    assert all(side.isfinite().all() for side in prefill)


@pytest.mark.parametrize("name", seg.BEST)
def test_a_later_key_or_a_swapped_block_is_noticed(name: str) -> None:
    """The tests above can fail: another order of blocks gives other bits."""
    kernels = seg.provider(name)
    inputs = data(kernels, SMALL, (200,))
    ledger = seg.Ledger([200])
    store = poisoned_store(kernels, SMALL, ledger)
    q, k, v = inputs[0].split(SMALL.widths, dim=1)
    batch = ledger.batch([(0, 200)])
    kernels.write_kv(batch, k, v, store)
    expected = kernels.attention(batch, q, store, SMALL.scale)
    batch.blocks[:2] = batch.blocks[:2].flip(0)
    rows = kernels.attention(batch, q, store, SMALL.scale)
    assert seg.differing(rows[128:], expected[128:]) > 0
