"""Indexed attention: close to its definition, equal however it is cut, ties to the earlier group."""

from dataclasses import dataclass

import pytest
import segmented as seg
import torch
from torch import Tensor

from isotherm.kernels.api import Kernels, RopeTable
from isotherm.kernels.batch import Batch
from isotherm.kernels.indexed import reference
from isotherm.kernels.rope import reference as rope
from isotherm.kernels.state import IndexedStore, IndexShape, KVShape


@dataclass(frozen=True)
class Shape:
    """Attention of `group` query heads a key head, and `index_heads` heads of the indexer; `most` groups of `ratio` keys.

    skip: 1 where token 0 is left out.
    """

    heads: int
    dim: int
    group: int
    index_heads: int
    index_dim: int
    ratio: int
    most: int
    skip: int = 0

    @property
    def widths(self) -> list[int]:
        keys = self.heads * self.dim
        return [keys * self.group, keys, keys, self.index_heads * self.index_dim, self.index_dim]


SHAPES = [
    Shape(2, 16, 2, 2, 16, 8, 4),
    Shape(1, 33, 3, 1, 24, 16, 2),
    Shape(1, 8, 1, 3, 8, 1, 5),
    Shape(1, 16, 1, 1, 16, 64, 1),
    Shape(2, 16, 2, 2, 16, 8, 4, skip=1),
    Shape(1, 24, 3, 1, 16, 2, 1, skip=1),
]
SMALL = SHAPES[0]
EPS = 1e-6
SHORT = (150, 1, 64, 65)


def table(dim: int) -> RopeTable:
    angle = torch.arange(512)[:, None] * torch.logspace(0, -2, dim // 4)[None]
    return RopeTable(angle.cos().float().contiguous(), angle.sin().float().contiguous())


def data(kernels: Kernels, shape: Shape, lengths: tuple[int, ...]) -> list[Tensor]:
    """Rows [T, q | k | v | index q | index k] of each sequence."""
    random = torch.Generator().manual_seed(3)
    return [torch.randn(n, sum(shape.widths), generator=random).to(kernels.dtype) for n in lengths]


def weight_of(shape: Shape) -> Tensor:
    return torch.linspace(0.5, 1.5, shape.index_dim)


def run(kernels: Kernels, shape: Shape, inputs: list[Tensor], passes: list[seg.Pass]) -> list[Tensor]:
    """Each sequence's outputs and choices side by side, then its complete blocks, on memory that is NaN until written."""
    ledger = seg.Ledger([len(x) for x in inputs])
    index = IndexShape(shape.index_dim, shape.ratio, shape.skip)
    store: IndexedStore = kernels.indexed_store(KVShape(shape.heads, shape.dim), index, ledger.block_count)
    kept = (store.k, store.v, store.keys, store.pooled)
    seg.poison(*kept)

    def call(batch: Batch, x: Tensor) -> Tensor:
        q, k, v, index_q, index_k = x.split(shape.widths, dim=1)
        kernels.write_indexed(batch, k, v, index_k, weight_of(shape), EPS, table(shape.index_dim), store)
        chosen = kernels.select(batch, index_q, store, shape.most)
        out = kernels.indexed_attention(batch, q, store, chosen, shape.dim**-0.5)
        padded = torch.zeros(len(x), 512, dtype=out.dtype)
        padded[:, : chosen.shape[1]] = chosen.to(out.dtype)
        return torch.cat([out, padded], dim=1)

    outputs = seg.play(inputs, passes, ledger, call)
    whole = [blocks[: len(x) // 64] for blocks, x in zip(ledger.blocks, inputs, strict=True)]
    return outputs + [tensor[blocks] for blocks in whole for tensor in kept]


def expected(shape: Shape, x: Tensor) -> tuple[Tensor, Tensor]:
    """Outputs and which keys each row attends to, in float64."""
    q, k, v, index_q, index_k = x.double().split(shape.widths, dim=1)
    turn = table(shape.index_dim)
    pooled = index_k[:0]
    if len(x) >= shape.ratio:
        means = reference.pooled_keys(index_k, shape.ratio, shape.skip)
        starts = torch.arange(0, len(means) * shape.ratio, shape.ratio)
        pooled = rope.norm_rope(means, weight_of(shape), EPS, starts, turn.cos, turn.sin)
    mask = reference.chosen_keys(index_q, pooled, shape.index_heads, shape.ratio, shape.most, shape.skip)
    return reference.indexed_attention(q, k, v, shape.heads, mask, shape.dim**-0.5), mask


FLOATS = [name for name in seg.PROVIDERS if name.endswith("float32")]


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_choices_and_rows_are_those_of_the_definition(name: str, shape: Shape) -> None:
    kernels = seg.provider(name)
    inputs = data(kernels, shape, SHORT)
    for x, y in zip(inputs, run(kernels, shape, inputs, seg.whole(SHORT)), strict=False):
        rows, mask = expected(shape, x)
        groups = torch.nn.functional.pad(mask, (0, -len(x) % shape.ratio)).view(len(x), -1, shape.ratio).any(dim=2)
        assert torch.equal(y[:, -512:][:, : groups.shape[1]] != 0, groups)
        torch.testing.assert_close(y[:, :-512].double(), rows, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", seg.PROVIDERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_row_at_a_time_and_in_batches_is_equal_to_whole_sequences(name: str, shape: Shape) -> None:
    kernels, lengths = seg.provider(name), seg.lengths(name)
    if name.startswith("torch") and shape != SMALL:
        pytest.skip("the torch form is slow")
    inputs = data(kernels, shape, lengths)
    whole = run(kernels, shape, inputs, seg.whole(lengths))
    for passes in (seg.one_by_one(lengths), seg.batched(lengths, 1)):
        assert all(map(seg.equal, run(kernels, shape, inputs, passes), whole))


@pytest.mark.parametrize("name", seg.BEST)
@pytest.mark.parametrize("cut", range(1, 80, 3))
def test_a_cut_inside_a_group_changes_nothing(name: str, cut: int) -> None:
    kernels, lengths = seg.provider(name), (100,)
    inputs = data(kernels, SMALL, lengths)
    whole = run(kernels, SMALL, inputs, seg.whole(lengths))
    assert all(map(seg.equal, run(kernels, SMALL, inputs, seg.halves(lengths, cut)), whole))


@pytest.mark.parametrize("name", seg.BEST)
@pytest.mark.parametrize("threads", seg.THREADS[1:])
def test_threads_change_nothing(name: str, threads: int) -> None:
    inputs = data(seg.provider(name), SMALL, seg.LENGTHS)
    passes = seg.batched(seg.LENGTHS, 2)
    one, many = (run(seg.provider(name, count), SMALL, inputs, passes) for count in (1, threads))
    assert all(map(seg.equal, one, many))


@pytest.mark.parametrize("name", seg.PROVIDERS)
def test_groups_that_score_the_same_are_chosen_from_the_first(name: str) -> None:
    """Scores of nothing but zeros: relu makes them common."""
    kernels = seg.provider(name)
    (x,) = data(kernels, SMALL, (100,))
    x[:, sum(SMALL.widths[:3]) : sum(SMALL.widths[:4])] = 0
    chosen = run(kernels, SMALL, [x], seg.whole((100,)))[0][:, -512:]
    assert chosen[98, :13].tolist() == [1] * SMALL.most + [0] * 8 + [1]
    assert chosen[95, :12].tolist() == [1] * SMALL.most + [0] * 8


@pytest.mark.parametrize("name", seg.PROVIDERS)
def test_a_block_of_which_nothing_is_chosen_is_not_read(name: str) -> None:
    kernels = seg.provider(name)
    store = kernels.indexed_store(KVShape(1, 16), IndexShape(16, 8), 3)
    seg.poison(store.k, store.v)
    for block in (0, 2):
        store.k[block], store.v[block] = 0.5, 0.25
    ledger = seg.Ledger([192])
    ledger.blocks, ledger.positions = [[0, 1, 2]], [191]
    chosen = torch.zeros(1, 24, dtype=torch.uint8)
    chosen[0, [1, 20, 23]] = 1
    out = kernels.indexed_attention(ledger.batch([(0, 1)]), torch.ones(1, 32, dtype=kernels.dtype), store, chosen, 0.25)
    assert (out == 0.25).all()
