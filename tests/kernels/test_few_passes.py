"""A pass of few rows, padded: its live entries are those of the plain plans, and every other entry is one that is skipped."""

import random

import numpy as np
import pytest

from isotherm.core.constants import BLOCK, ZERO_SLOT
from isotherm.core.plan import PassPlan, Segment, StateWrite
from isotherm.kernels.attention.plan import plan_attention
from isotherm.kernels.batch import Batch
from isotherm.kernels.gated_delta.plan import plan_delta
from isotherm.kernels.gpu.decode import Decode, DecodeNumbers
from isotherm.kernels.gpu.few import few_pass, is_few
from isotherm.kernels.gpu.few_tiles import NO_PAIR, Heads
from isotherm.kernels.gpu.padded import PaddedPass
from isotherm.kernels.gpu.rows import plan_rows
from isotherm.runner.layout import lay_out

LANE, WIDTH = 77, 50
HEADS = (Heads(2, 8, 2048), Heads(4, 6, 128), Heads(1, 24, 64), Heads(2, 1, 256))


def a_pass(seed: int, most: int) -> tuple[Segment, ...]:
    """Segments of 1 to `most` rows that stay in their block, some of which fill it."""
    rng = random.Random(seed)
    segments = []
    for number in range(rng.randrange(1, 7)):
        rows = rng.randrange(1, most + 1)
        start = rng.randrange(20) * BLOCK + rng.choice([0, BLOCK - rows, rng.randrange(BLOCK - rows + 1)])
        end = start + rows
        writes = (StateWrite(end, 10 + number),) if end % BLOCK == 0 else ()
        blocks = tuple(rng.randrange(1, 500) for _ in range(-(-end // BLOCK)))
        tokens = tuple(rng.randrange(1, 100) for _ in range(rows))
        segments.append(Segment(number, number, start, tokens, blocks, number + 1, writes))
    return tuple(segments)


def live(table, nothing) -> set[tuple[int, ...]]:
    """Rows of a table that are not padding."""
    return {tuple(row) for row in table.tolist()} - {nothing}


def padded(seed: int, most: int, heads: Heads) -> tuple[Batch, PaddedPass, int]:
    segments = a_pass(seed, most)
    batch, _ = lay_out(PassPlan(segments))
    rows = 1 << (batch.rows - 1).bit_length()
    return batch, few_pass(segments, rows, LANE, heads, WIDTH), rows


@pytest.mark.parametrize("most", [1, 5, 16])
@pytest.mark.parametrize("seed", range(8))
def test_rows_and_folds_are_those_of_the_plain_plans(seed: int, most: int) -> None:
    batch, few, _ = padded(seed, most, HEADS[0])
    arrays, m = few.arrays, batch.rows
    plain, delta = plan_rows(batch), plan_delta(batch)
    assert not len(plain.late) and not len(delta.tiles)
    for name, expected in (("segments", plain.segments), ("keeps", plain.keeps), ("positions", batch.positions)):
        assert arrays[name][:m].tolist() == expected.tolist()
    assert arrays["delta_keeps"][:m].tolist() == delta.keeps.tolist()
    assert arrays["sources"][:m].tolist() == delta.sources.tolist()
    assert arrays["lone"][: batch.segments].tolist() == delta.lone.tolist()
    assert arrays["lone_rows"][: batch.segments].tolist() == delta.lone_rows.tolist()
    assert live(arrays["folds"], (0, 0, -1, 0)) == live(delta.folds, ())
    assert live(arrays["writes"], (-1, -1)) == live(plain.writes, ())
    for name in ("row_offsets", "write_offsets"):
        assert arrays[name][: batch.segments + 1].tolist() == getattr(batch, name).tolist()
    assert arrays["block_offsets"][: batch.segments].tolist() == (batch.lanes * WIDTH).tolist()


@pytest.mark.parametrize("most", [1, 5, 16])
@pytest.mark.parametrize("seed", range(8))
def test_added_rows_touch_nothing_that_anybody_has(seed: int, most: int) -> None:
    batch, few, rows = padded(seed, most, HEADS[0])
    arrays, m, s = few.arrays, batch.rows, batch.segments
    added = rows - m
    assert arrays["lanes"][s:].tolist() == [LANE] * (rows - s)
    assert set(arrays["block_offsets"][s:rows].tolist()) <= {LANE * WIDTH}
    assert set(arrays["states"][s:].tolist()) <= {ZERO_SLOT}
    assert arrays["segments"][m:].tolist() == list(range(s, s + added))
    assert set(arrays["keeps"][m:].tolist()) | set(arrays["delta_keeps"][m:].tolist()) <= {LANE * BLOCK}
    assert arrays["row_offsets"][-1] == rows
    assert {tuple(row)[1:] for row in arrays["lone"][s + added :].tolist()} <= {(0, 1, LANE)}


@pytest.mark.parametrize("heads", HEADS, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_attention_walks_each_pair_and_key_once(seed: int, heads: Heads) -> None:
    batch, few, _ = padded(seed, 16, heads)
    plan = plan_attention(batch, heads.heads, heads.group, heads.split)
    for part in (plan.small, plan.middle, plan.large):
        items, tiles = few.arrays[f"items{part.pairs}"], few.arrays[f"tiles{part.pairs}"]
        expected = split_items(part.items.tolist())
        mine = [row for row in items.tolist() if row[0] < batch.segments and row[2] < row[3]]
        assert split_items(mine) == expected
        if len(tiles):
            cut = [row for row in tiles.tolist() if row[0] < batch.segments and row[1] < NO_PAIR]
            covered = [tuple(items[i, :3].tolist()) for row in cut for i in range(row[2], row[3])]
            assert sorted(covered) == expected
            for segment, pair, first, end in cut:
                assert items[first:end, 2].tolist() == list(range(end - first))
                assert {(segment, pair)} == {tuple(row) for row in items[first:end, :2].tolist()}


def split_items(rows: list[list[int]]) -> list[tuple[int, int, int]]:
    """(segment, first pair, split) of each split that is walked."""
    return sorted((segment, pair, split) for segment, pair, low, high in rows for split in range(low, high))


@pytest.mark.parametrize("heads", HEADS, ids=str)
@pytest.mark.parametrize("seed", range(20))
def test_the_numbers_of_a_decode_are_those_of_any_pass(seed: int, heads: Heads) -> None:
    """But for the order in which attention takes its tiles."""
    segments = a_pass(seed, 1)
    rows = 1 << (len(segments) - 1).bit_length()
    decode, few = Decode.of(segments, rows, heads), few_pass(segments, rows, LANE, heads, WIDTH)
    assert decode.sizes == few.sizes
    numbers = DecodeNumbers(decode, LANE, heads, WIDTH)
    offsets, size = few.places()
    assert numbers.whole.places() == (offsets, size)
    space = np.full(size, 99, np.int32)
    for turn in (a_pass(seed + 1, 1)[: len(segments)], segments):
        if (other := Decode.of(turn, rows, heads)).sizes == decode.sizes:
            numbers.write(turn, other, space)
    for name, array in few.arrays.items():
        mine = space[offsets[name] : offsets[name] + array.size].reshape(array.shape)
        if name.startswith("items"):
            assert split_items(mine.tolist()) == split_items(array.tolist())
        elif not name.startswith("tiles"):
            assert (mine == array).all(), name


def test_a_pass_with_two_rows_of_a_sequence_is_no_decode() -> None:
    assert Decode.of((Segment(0, 0, 0, (1, 2), (1,), 0),), 2, HEADS[0]) is None


@pytest.mark.parametrize("heads", HEADS, ids=str)
def test_passes_of_as_many_rows_share_few_sizes(heads: Heads) -> None:
    sizes = {padded(seed, 1, heads)[1].sizes for seed in range(200)}
    assert len({size.rows for size in sizes}) == 4 and len(sizes) < 60


def test_a_pass_that_crosses_a_block_or_has_a_long_segment_is_not_few() -> None:
    def one(start: int, rows: int) -> tuple[Segment, ...]:
        return (Segment(0, 0, start, (1,) * rows, tuple(range(1, 9)), 1),)

    assert is_few(one(60, 4), 16) and is_few(one(64, 16), 16)
    assert not is_few(one(60, 5), 16) and not is_few(one(64, 17), 32) and not is_few(one(64, 16), 8)
