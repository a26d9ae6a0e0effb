"""A pass with whole chunks, padded: its live entries are those of the plain plans, and every other entry reaches nobody."""

import random

import pytest

from isotherm.core.constants import BLOCK, ZERO_SLOT
from isotherm.core.plan import PassPlan, Segment, StateWrite
from isotherm.kernels.attention.plan import plan_attention
from isotherm.kernels.batch import Batch
from isotherm.kernels.gated_delta.plan import plan_delta
from isotherm.kernels.gpu.few_tiles import NO_PAIR, Heads
from isotherm.kernels.gpu.padded import PaddedPass
from isotherm.kernels.gpu.prefill import MOST_ASKED, ROWS, WAITING, PrefillSizes, prefill_pass, size_for
from isotherm.kernels.gpu.rows import plan_rows
from isotherm.runner.layout import lay_out

LANE, WIDTH = 77, 800
HEADS = (Heads(2, 8, 2048), Heads(4, 6, 128), Heads(1, 24, 64), Heads(2, 1, 256))


def segment(rng: random.Random, number: int, rows: int, start: int) -> Segment:
    """It keeps its last boundary, and now and then one before."""
    end = start + rows
    boundaries = range(start // BLOCK * BLOCK + BLOCK, end // BLOCK * BLOCK + 1, BLOCK)
    kept = [at for at in boundaries if at == boundaries[-1] or rng.random() < 0.2]
    blocks = tuple(rng.randrange(1, 500) for _ in range(-(-end // BLOCK)))
    tokens = tuple(rng.randrange(1, 100) for _ in range(rows))
    writes = tuple(StateWrite(at, 100 * number + at // BLOCK) for at in kept)
    return Segment(number, number, start, tokens, blocks, number + 1, writes)


def a_pass(seed: int, longest: int = 200) -> tuple[Segment, ...]:
    """Prompts of up to `longest` rows, from any position on, among decodes, verifies and short tails."""
    rng = random.Random(seed)
    made = []
    for number in range(rng.choice([1, 1, 2, 5, 9])):
        start = rng.choice([0, rng.randrange(20) * BLOCK, rng.randrange(30 * BLOCK)])
        long = number == 0 or rng.random() < 0.4
        rows = rng.randrange(17, longest) if long else rng.randrange(1, min(17, BLOCK - start % BLOCK + 1))
        made.append(segment(rng, number, rows, start))
    rng.shuffle(made)
    return tuple(made)


def padded(
    segments: tuple[Segment, ...], heads: Heads = HEADS[0], asked: tuple[int, ...] = ()
) -> tuple[Batch, PaddedPass]:
    batch, _ = lay_out(PassPlan(segments))
    made = prefill_pass(segments, asked, ROWS[-1], LANE, heads, WIDTH)
    assert made is not None
    return batch, made


def sizes_of(made: PaddedPass) -> PrefillSizes:
    assert isinstance(made.sizes, PrefillSizes)
    return made.sizes


SEEDS = pytest.mark.parametrize("seed", range(25))


@SEEDS
def test_rows_are_those_of_the_plain_plans(seed: int) -> None:
    batch, made = padded(a_pass(seed))
    arrays, m, s, plain = made.arrays, batch.rows, batch.segments, plan_rows(batch)
    for name, expected in (("segments", plain.segments), ("keeps", plain.keeps), ("positions", batch.positions)):
        assert arrays[name][:m].tolist() == expected.tolist(), name
    late, writes = plain.late.tolist(), plain.writes.tolist()
    assert arrays["late"][: len(late)].tolist() == late and arrays["writes"][: len(writes)].tolist() == writes
    for name in ("starts", "lanes", "states"):
        assert arrays[name][:s].tolist() == getattr(batch, name).tolist()
    for name in ("row_offsets", "write_offsets"):
        assert arrays[name][: s + 1].tolist() == getattr(batch, name).tolist()
    for name in ("write_positions", "write_slots"):
        assert arrays[name][: len(writes)].tolist() == getattr(batch, name).tolist()
    assert arrays["block_offsets"][:s].tolist() == (batch.lanes * WIDTH).tolist()


@SEEDS
def test_chunks_and_rows_alone_are_those_of_the_plain_plan(seed: int) -> None:
    batch, made = padded(a_pass(seed))
    arrays, delta, sizes = made.arrays, plan_delta(batch), sizes_of(made)
    tiles, alone, shift = len(delta.tiles), len(delta.lone), (sizes.chunks - len(delta.tiles)) * BLOCK
    assert tiles < sizes.chunks
    for name, expected in (("chunks", delta.tiles), ("spans", delta.spans), ("opened", delta.opened)):
        assert arrays[name][: len(expected)].tolist() == expected.tolist(), name
    split = tiles * BLOCK
    for name, expected in (("sources", delta.sources), ("delta_keeps", delta.keeps)):
        assert arrays[name][:split].tolist() == expected[:split].tolist()
        rows = expected[split:].tolist()
        assert arrays[name][split + shift :][: len(rows)].tolist() == rows
    lone = delta.lone + delta.lone.new_tensor([shift, 0, 0, 0])
    assert arrays["lone"][:alone].tolist() == lone.tolist()
    assert arrays["lone_rows"][:alone].tolist() == delta.lone_rows.tolist()
    assert arrays["folds"][: len(delta.folds)].tolist() == delta.folds.tolist()


@SEEDS
def test_added_entries_touch_nothing_that_anybody_has(seed: int) -> None:
    batch, made = padded(a_pass(seed))
    arrays, sizes, delta, plain = made.arrays, sizes_of(made), plan_delta(batch), plan_rows(batch)
    m, s = batch.rows, batch.segments
    assert sizes.rows >= m and sizes.segments > s
    assert set(arrays["segments"][m:].tolist()) <= {s}
    assert arrays["row_offsets"][s + 1 :].tolist() == [sizes.rows] * (sizes.segments - s)
    assert set(arrays["lanes"][s:].tolist()) == {LANE} and set(arrays["states"][s:].tolist()) == {ZERO_SLOT}
    assert set(arrays["block_offsets"][s : sizes.segments].tolist()) == {LANE * WIDTH}
    assert set(arrays["keeps"][m:].tolist()) <= {-1} and set(arrays["positions"][m:].tolist()) <= set(range(BLOCK))
    assert {place for _, place in arrays["late"][len(plain.late) :].tolist()} <= {LANE * BLOCK}
    assert set(map(tuple, arrays["writes"][len(plain.writes) :].tolist())) <= {(-1, -1)}
    split = sizes.chunks * BLOCK
    for name in ("sources", "delta_keeps"):
        assert set(arrays[name][len(delta.tiles) * BLOCK : split].tolist()) == {-1}
        assert set(arrays[name][split + int(delta.lone[:, 1].sum()) :].tolist()) <= {-1}
    nobody = sizes.chunks - 1
    assert set(map(tuple, arrays["chunks"][len(delta.tiles) :].tolist())) == {(0, 0, 0, 0, LANE, -1, 0, 0)}
    assert set(map(tuple, arrays["spans"][len(delta.spans) :].tolist())) <= {(nobody, nobody, ZERO_SLOT, 0)}
    assert set(arrays["opened"][len(delta.opened) :].tolist()) <= {nobody}
    assert {tuple(row)[1:] for row in arrays["lone"][len(delta.lone) :].tolist()} <= {(0, 1, LANE)}
    assert {tuple(row) for row in arrays["folds"][len(delta.folds) :].tolist()} <= {(0, 0, -1, 0)}


@pytest.mark.parametrize("heads", HEADS, ids=str)
@SEEDS
def test_attention_walks_each_pair_and_key_once(seed: int, heads: Heads) -> None:
    batch, made = padded(a_pass(seed), heads)
    plan = plan_attention(batch, heads.heads, heads.group, heads.split)
    for part in (plan.small, plan.middle, plan.large):
        items, tiles = made.arrays[f"items{part.pairs}"], made.arrays[f"tiles{part.pairs}"]
        expected = walked(part.items.tolist())
        assert walked(items.tolist()) == expected
        assert all(row[1] >= NO_PAIR for row in items.tolist() if row[2] >= row[3])
        if len(tiles):
            cut = [row for row in tiles.tolist() if row[1] < NO_PAIR]
            assert sorted(tuple(items[i, :3].tolist()) for row in cut for i in range(row[2], row[3])) == expected
            for segment, pair, first, end in cut:
                assert items[first:end, 2].tolist() == list(range(end - first))
                assert {(segment, pair)} == {tuple(row) for row in items[first:end, :2].tolist()}


def walked(rows: list[list[int]]) -> list[tuple[int, int, int]]:
    """(segment, first pair, split) of each split that is walked."""
    return sorted((segment, pair, split) for segment, pair, low, high in rows for split in range(low, high))


def test_what_waits_for_attention_is_bounded() -> None:
    """A long context for many rows is walked whole instead, and each split still once."""
    rng, heads = random.Random(0), Heads(2, 8, 2048)
    few, many = (padded((segment(rng, 0, rows, 49_000),), heads)[1] for rows in (64, ROWS[-1]))
    for made in (few, many):
        for height, items in zip((16, 64, 128), sizes_of(made).items, strict=True):
            assert items * heads.heads * height <= WAITING
    assert any(sizes_of(few).tiles) and not any(sizes_of(many).tiles)


def test_rows_that_are_asked_for_come_first_and_many_are_left_to_the_caller() -> None:
    segments = (segment(random.Random(0), 0, 100, 0),)
    for count in (0, 1, 16, 17, MOST_ASKED):
        asked = padded(segments, asked=tuple(range(5, 5 + count)))[1].arrays["asked"].tolist()
        assert (
            asked[:count] == list(range(5, 5 + count)) and set(asked[count:]) <= {0} and len(asked) == size_for(count)
        )
    assert sizes_of(padded(segments, asked=tuple(range(MOST_ASKED + 1)))[1]).asked == 0


def test_passes_that_are_not_recorded() -> None:
    rng = random.Random(0)
    alone = (segment(rng, 0, 9, 64), segment(rng, 1, 1, 5))
    wide = tuple(segment(rng, number, 20, 0) for number in range(17))
    for segments, most in (
        (alone, ROWS[-1]),
        (wide, ROWS[-1]),
        ((segment(rng, 0, ROWS[-1] + 1, 0),), 2 * ROWS[-1]),
        ((segment(rng, 0, 300, 0),), 256),
    ):
        assert prefill_pass(segments, (), most, LANE, HEADS[0], WIDTH) is None
    assert prefill_pass((segment(rng, 0, ROWS[-1], 0),), (), ROWS[-1], LANE, HEADS[0], WIDTH) is not None


def test_prompts_of_many_lengths_share_few_sizes() -> None:
    """A hundred warm turns of 20 to 500 rows after contexts of up to 30,000 blocks' multiples."""
    rng, found = random.Random(1), set()
    for _ in range(100):
        start = rng.randrange(470) * BLOCK
        found.add(padded((segment(random.Random(7), 0, rng.randrange(20, 500), start),), asked=(0,))[1].sizes)
    assert len(found) <= 20
