"""The numbers of a decode, one row a sequence, written where a recorded pass reads them: few of them change."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from isotherm.core.constants import BLOCK
from isotherm.core.plan import Segment
from isotherm.kernels.attention.plan import TILES, WAITING_PAIRS
from isotherm.kernels.gpu.few import NO_FOLD, NOTHING, Sizes, few_pass, fold_class
from isotherm.kernels.gpu.few_tiles import Heads, by_rows, filled, padded_tiles
from isotherm.kernels.gpu.padded import PaddedPass
from isotherm.kernels.gpu.upload import Ints


@dataclass(frozen=True, slots=True)
class Decode:
    """A pass of one row a sequence: its sizes, and attention's items and tiles of each height."""

    sizes: Sizes
    items: tuple[Ints, ...]
    tiles: tuple[Ints, ...]

    @staticmethod
    def of(segments: Sequence[Segment], rows: int, heads: Heads) -> "Decode | None":
        """None for any other pass."""
        if any(len(item.tokens) != 1 for item in segments):
            return None
        splits = tuple(item.start // heads.split for item in segments)
        items, tiles = _tiles(splits, rows, heads)
        folds = fold_class(sum(len(item.writes) for item in segments), rows)
        return Decode(Sizes(rows, folds, tuple(map(len, items)), tuple(map(len, tiles))), items, tiles)


@lru_cache(256)
def _tiles(splits: tuple[int, ...], rows: int, heads: Heads) -> tuple[tuple[Ints, ...], tuple[Ints, ...]]:
    """For sequences whose last key is in these splits; others are added up to `rows`."""
    starts = np.array([*splits, *(0 for _ in range(rows - len(splits)))], np.int32) * heads.split
    items, tiles = padded_tiles(np.ones(rows, np.int32), starts, heads, partial(by_rows, rows=rows), WAITING_PAIRS)
    return tuple(items), tuple(tiles)


class DecodeNumbers:
    """A record's numbers with added rows only, and where the live ones go over them."""

    def __init__(self, decode: Decode, lane: int, heads: Heads, width: int):
        sizes = decode.sizes
        self._width, self._rows = width, sizes.rows
        arrays = dict(few_pass((), sizes.rows, lane, heads, width).arrays)
        for height, items, tiles in zip(TILES, decode.items, decode.tiles, strict=True):
            arrays |= {f"items{height}": items, f"tiles{height}": tiles}
        for name, value in (("write_positions", 0), ("write_slots", 0), ("writes", (NOTHING,) * 2), ("folds", NO_FOLD)):
            arrays[name] = filled(arrays[name][:0], sizes.folds, value)
        self.sizes, self.whole = sizes, PaddedPass(sizes, arrays)
        self._offsets, self._size = self.whole.places()
        self._numbers = np.zeros(self._size, np.int32)
        self.whole.write(self._numbers, self._offsets)

    def write(self, segments: Sequence[Segment], decode: Decode, space: Ints) -> None:
        """The pass's numbers, all of the record's memory."""
        live, rows = len(segments), self._rows
        space[: self._size] = self._numbers
        given = np.array([(item.tokens[0], item.start, item.lane, item.state) for item in segments], np.int32)
        tokens, starts, lanes, states = given.T
        within = starts % BLOCK
        lane_rows = lanes * BLOCK + within
        for name, values in (
            ("tokens", tokens),
            ("positions", starts),
            ("starts", starts),
            ("lanes", lanes),
            ("states", states),
            ("block_offsets", lanes * self._width),
            ("keeps", np.where(within == BLOCK - 1, NOTHING, lane_rows)),
            ("delta_keeps", lane_rows),
        ):
            self._of(space, name)[:live] = values
        lone = self._of(space, "lone").reshape(rows, 4)
        lone[:live, 2], lone[:live, 3] = within, lanes
        self._of(space, "lone_rows").reshape(rows, 2)[:live, 1] = states
        for height, items, tiles in zip(TILES, decode.items, decode.tiles, strict=True):
            self._of(space, f"items{height}")[:] = items.reshape(-1)
            self._of(space, f"tiles{height}")[:] = tiles.reshape(-1)
        if self.sizes.folds:
            self._fold(segments, space)

    def _fold(self, segments: Sequence[Segment], space: Ints) -> None:
        folds, writes = self._of(space, "folds").reshape(-1, 4), self._of(space, "writes").reshape(-1, 2)
        positions, slots = self._of(space, "write_positions"), self._of(space, "write_slots")
        offsets, count = self._of(space, "write_offsets"), 0
        for index, item in enumerate(segments):
            for write in item.writes:
                folds[count] = (item.lane, item.state, write.slot, 0)
                writes[count] = (index, count)
                positions[count], slots[count] = write.position, write.slot
                count += 1
            offsets[index + 1 :] = count

    def _of(self, space: Ints, name: str) -> Ints:
        start = self._offsets[name]
        return space[start : start + self.whole.arrays[name].size]
