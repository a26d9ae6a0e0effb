"""A pass with whole chunks, and the decodes and short tails in it, padded for a recorded pass (isotherm.kernels.gpu.padded).

Rows that are added are one segment in a lane and a block that nobody has. Attention and the delta rule do not walk it: it costs
what rows cost in products, and nothing that grows with the context. As its rows begin equal and get zeros from both, they stay
equal, and ask for the same few experts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isotherm.core.constants import BLOCK, ZERO_SLOT
from isotherm.core.plan import Segment
from isotherm.kernels.attention.plan import TILES, WAITING_PAIRS
from isotherm.kernels.gpu.few import NO_FOLD, NOTHING, fold_class, is_few
from isotherm.kernels.gpu.few_tiles import Heads, filled, padded_tiles
from isotherm.kernels.gpu.padded import PaddedPass
from isotherm.kernels.gpu.upload import Ints

ROWS = (64, 128, 192, 256, 384, 512, 768, 1024, 1280)
"""Rows of a recorded pass. With more, the GPU takes longer than the launches: on an H200, 1,048 rows of a 4 B model as long."""

MOST_ASKED = 64
"""Rows whose logits a recorded pass makes."""

_MOST_CHUNKED, _MOST_ALONE = 16, 256
WAITING = WAITING_PAIRS // 4
"""Pairs whose splits may wait in the memory of records, which is never given back."""


@dataclass(frozen=True, slots=True)
class PrefillSizes:
    """What passes must share to play one record, all of it numbers of table entries.

    rows, then segments with whole chunks, rows that are computed alone, boundaries that these fill, boundaries that are kept,
    lane rows that are written late, attention's items and tiles by height, and rows whose logits are made.
    """

    rows: int
    chunked: int
    alone: int
    folds: int
    writes: int
    late: int
    items: tuple[int, ...]
    tiles: tuple[int, ...]
    asked: int

    @property
    def chunks(self) -> int:
        """Chunk tiles: a segment of n >= 2 rows touches at most n / 64 + 2 blocks, and one more tile is nobody's."""
        return self.rows // BLOCK + 2 * self.chunked + 1

    @property
    def segments(self) -> int:
        """One more than there can be live ones."""
        return self.chunked + self.alone + 1


def prefill_pass(
    segments: Sequence[Segment], asked: Sequence[int], most: int, lane: int, heads: Heads, width: int
) -> PaddedPass | None:
    """The pass; None for one that is not recorded: it has more than `most` rows or too many segments.

    asked: rows of the pass whose logits are wanted; when there are more than MOST_ASKED, none are made. lane: of the rows that
    are added. width: entries of a lane's block table.
    """
    count = sum(len(item.tokens) for item in segments)
    rows = next((size for size in ROWS if size >= count), 0)
    chunked = [not is_few((item,), count) for item in segments]
    alone = sum(len(item.tokens) for item, whole in zip(segments, chunked, strict=True) if not whole)
    if not 0 < rows <= most or not 0 < sum(chunked) <= _MOST_CHUNKED or alone > _MOST_ALONE:
        return None
    return _Layout(segments, np.array(chunked), rows, lane).padded(list(asked), alone, heads, width)


def size_for(count: int) -> int:
    """0, or 16 times a power of four: few sizes, and what is skipped costs little."""
    size = 16 if count else 0
    while size < count:
        size *= 4
    return size


def _power(count: int, least: int) -> int:
    """0, or the power of two at or above it, at least `least`."""
    return max(least, 1 << (count - 1).bit_length()) if count else 0


_ALONE: dict[str, tuple[int, ...]] = {
    "lone": (4,),
    "lone_rows": (2,),
    "folds": (4,),
    "lone_sources": (),
    "lone_keeps": (),
}


class _Layout:
    """The pass row by row: owner, positions [rows], and counts, starts, lanes, states of each segment, the added one last."""

    def __init__(self, segments: Sequence[Segment], chunked: Ints, rows: int, lane: int):
        self.segments, self.chunked, self.rows, self.lane = segments, chunked, rows, lane
        given = np.array([(len(item.tokens), item.start, item.lane, item.state) for item in segments], np.int32)
        self.live = int(given[:, 0].sum())
        added = np.array([(rows - self.live, 0, lane, ZERO_SLOT)], np.int32)
        self.counts, self.starts, self.lanes, self.states = np.concatenate([given, added]).T
        self.offsets = np.append(np.int32(0), np.cumsum(self.counts, dtype=np.int32))
        self.owner = np.repeat(np.arange(len(self.counts), dtype=np.int32), self.counts)
        within = np.arange(rows, dtype=np.int32) - self.offsets[self.owner]
        self.positions = self.starts[self.owner] + within
        self.positions[self.live :] = within[self.live :] % BLOCK
        self.lane_rows = self.lanes[self.owner] * BLOCK + self.positions % BLOCK

    def padded(self, asked: list[int], alone: int, heads: Heads, width: int) -> PaddedPass:
        live = self.counts[:-1]
        items, tiles = padded_tiles(live, self.starts[:-1], heads, size_for, WAITING)
        keeps, late = self._kept()
        lone_folds = sum(len(item.writes) for item, whole in zip(self.segments, self.chunked, strict=True) if not whole)
        sizes = PrefillSizes(
            rows=self.rows,
            chunked=_power(int(self.chunked.sum()), 1),
            alone=_power(alone, 8),
            folds=fold_class(lone_folds, _power(alone, 8)),
            writes=size_for(max(1, sum(len(item.writes) for item in self.segments))),
            late=size_for(len(late)),
            items=tuple(map(len, items)),
            tiles=tuple(map(len, tiles)),
            asked=size_for(len(asked)) if len(asked) <= MOST_ASKED else 0,
        )
        arrays = self._batch(sizes, width) | self._chunks(sizes) | self._alone(sizes)
        sources, delta_keeps = arrays.pop("chunk_sources"), arrays.pop("lone_keeps")
        arrays["sources"] = np.concatenate([sources, arrays.pop("lone_sources")])
        arrays["delta_keeps"] = np.concatenate([np.full(len(sources), NOTHING, np.int32), delta_keeps])
        arrays |= {"keeps": keeps, "late": filled(late, sizes.late, (0, self.lane * BLOCK))}
        arrays["asked"] = filled(np.array(asked[: sizes.asked], np.int32), sizes.asked, 0)
        for height, some, cut in zip(TILES, items, tiles, strict=True):
            arrays |= {f"items{height}": some, f"tiles{height}": cut}
        return PaddedPass(sizes, arrays)

    def _batch(self, sizes: PrefillSizes, width: int) -> dict[str, Ints]:
        """The arrays of Batch; every segment beyond the added one is empty."""
        size, writes = sizes.segments, [write for item in self.segments for write in item.writes]
        ends = np.cumsum([0, *(len(item.writes) for item in self.segments)], dtype=np.int32)
        tokens = np.fromiter((token for item in self.segments for token in item.tokens), np.int32, self.live)
        owners = [(index, n) for index, item in enumerate(self.segments) for n in range(ends[index], ends[index + 1])]
        lanes = filled(self.lanes, size, self.lane)
        return {
            "tokens": filled(tokens, self.rows, 0),
            "positions": self.positions,
            "row_offsets": filled(self.offsets, size + 1, self.rows),
            "starts": filled(self.starts, size, 0),
            "lanes": lanes,
            "states": filled(self.states, size, ZERO_SLOT),
            "block_offsets": np.append(lanes * width, np.int32(0)),
            "segments": self.owner,
            "write_offsets": filled(ends, size + 1, len(writes)),
            "write_positions": filled(np.array([write.position for write in writes], np.int32), sizes.writes, 0),
            "write_slots": filled(np.array([write.slot for write in writes], np.int32), sizes.writes, 0),
            "writes": filled(np.array(owners, np.int32).reshape(-1, 2), sizes.writes, (NOTHING, NOTHING)),
        }

    def _kept(self) -> tuple[Ints, Ints]:
        """RowPlan's keeps and late: rows since their segment's last boundary, late where it reads what lies there first."""
        ends = self.starts + self.counts
        held = self.positions >= (ends // BLOCK * BLOCK)[self.owner]
        held[self.live :] = False
        overlaps = ((self.starts % BLOCK > 0) & (ends > self.starts // BLOCK * BLOCK + BLOCK))[self.owner]
        rows = np.flatnonzero(held & overlaps)
        return (
            np.where(held & ~overlaps, self.lane_rows, NOTHING).astype(np.int32),
            np.stack([rows, self.lane_rows[rows]], 1).astype(np.int32),
        )

    def _chunks(self, sizes: PrefillSizes) -> dict[str, Ints]:
        """DeltaPlan's chunk tiles, of segments one after the other, and their places; tiles beyond are empty chunks of nobody."""
        own = np.flatnonzero(self.chunked)
        starts, ends = self.starts[own], self.starts[own] + self.counts[own]
        bases = starts // BLOCK * BLOCK
        each = -(-(ends - bases) // BLOCK)
        last = np.cumsum(each)
        first, span = last - each, np.repeat(np.arange(len(own)), each)
        tile_bases = bases[span] + (np.arange(last[-1]) - first[span]) * BLOCK
        row = self.offsets[own][span] + tile_bases - starts[span]
        low, high = np.maximum(starts[span] - tile_bases, 0), np.minimum(ends[span] - tile_bases, BLOCK)
        lanes = self.lanes[own][span]
        slots = np.full(last[-1], NOTHING)
        for n, index in enumerate(own.tolist()):
            for write in self.segments[index].writes:
                slots[first[n] + (write.position - bases[n]) // BLOCK - 1] = write.slot
        zeros = np.zeros_like(row)
        tiles = np.stack([span, row, low, high, lanes, slots, zeros, zeros], 1).astype(np.int32)
        i = np.arange(BLOCK)
        lane_rows = -2 - (lanes[:, None] * BLOCK + i)
        sources = np.where(i < low[:, None], lane_rows, np.where(i < high[:, None], row[:, None] + i, NOTHING))
        nobody = sizes.chunks - 1
        return {
            "chunks": filled(tiles, sizes.chunks, (0, 0, 0, 0, self.lane, NOTHING, 0, 0)),
            "spans": filled(
                np.stack([first, last, self.states[own], np.zeros_like(first)], 1).astype(np.int32),
                sizes.chunked,
                (nobody, nobody, ZERO_SLOT, 0),
            ),
            "opened": filled(np.flatnonzero(high < BLOCK).astype(np.int32), sizes.chunked, nobody),
            "chunk_sources": filled(sources.reshape(-1).astype(np.int32), sizes.chunks * BLOCK, NOTHING),
        }

    def _alone(self, sizes: PrefillSizes) -> dict[str, Ints]:
        """DeltaPlan's segments that go row by row, whose places follow those of the chunks."""
        own = np.flatnonzero(~self.chunked)
        if not len(own):
            return {name: np.empty((0, *rest), np.int32) for name, rest in _ALONE.items()}
        counts, rows = self.counts[own], np.flatnonzero(np.isin(self.owner[: self.live], own))
        places = sizes.chunks * BLOCK + np.cumsum(counts) - counts
        lone = np.stack([places, counts, self.starts[own] % BLOCK, self.lanes[own]], 1).astype(np.int32)
        folds = [
            (self.lanes[index], self.states[index], write.slot, 0)
            for index in own.tolist()
            for write in self.segments[index].writes
        ]
        return {
            "lone": filled(lone, sizes.alone, (0, 0, 1, self.lane)),
            "lone_rows": filled(np.stack([self.offsets[own], self.states[own]], 1), sizes.alone, (0, ZERO_SLOT)),
            "folds": filled(np.array(folds, np.int32).reshape(-1, 4), sizes.folds, NO_FOLD),
            "lone_sources": filled(rows.astype(np.int32), sizes.alone, NOTHING),
            "lone_keeps": filled(self.lane_rows[rows], sizes.alone, NOTHING),
        }
