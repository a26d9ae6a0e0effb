"""A pass of few rows, each computed alone, padded for a recorded pass (isotherm.kernels.gpu.padded).

Rows that are added are sequences of one token in a lane and a block that nobody else uses; other tables are padded with entries
that their kernels skip.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from isotherm.core.constants import BLOCK, ZERO_SLOT
from isotherm.core.plan import Segment
from isotherm.kernels.attention.plan import TILES, WAITING_PAIRS
from isotherm.kernels.gated_delta.plan import LONE_ROWS
from isotherm.kernels.gpu.few_tiles import NO_ITEM, Heads, by_rows, filled, padded_tiles
from isotherm.kernels.gpu.padded import PaddedPass
from isotherm.kernels.gpu.upload import Ints

NOTHING = -1

NO_FOLD = (0, 0, NOTHING, 0)


@dataclass(frozen=True, slots=True)
class Sizes:
    """What passes must share to play one record. items, tiles: of attention, by height; no tiles where none is cut."""

    rows: int
    folds: int
    items: tuple[int, ...]
    tiles: tuple[int, ...]


def is_few(segments: Sequence[Segment], most: int) -> bool:
    """Whether every segment is computed row by row, and there are at most so many rows."""
    return sum(len(item.tokens) for item in segments) <= most and all(
        len(item.tokens) <= LONE_ROWS and item.start % BLOCK + len(item.tokens) <= BLOCK for item in segments
    )


def few_pass(segments: Sequence[Segment], rows: int, lane: int, heads: Heads, width: int) -> PaddedPass:
    """A pass for which `is_few` holds, at `rows` rows and segments, of which the last may be empty.

    lane: of the rows that are added. width: entries of a lane's block table.
    """
    live = len(segments)
    counts, row_offsets, owner, within = _rows_of(tuple(len(item.tokens) for item in segments), rows)
    starts, lanes, states = _padded([(item.start, item.lane, item.state) for item in segments], rows, lane)
    positions = starts[owner] + within
    lane_rows, ends = lanes[owner] * BLOCK + positions % BLOCK, starts + counts
    lone = np.stack([row_offsets[:-1], counts, starts % BLOCK, lanes], 1)
    if live:
        lone[counts == 0] = (0, 0, 1, lane)
    arrays = {
        "tokens": _ints((token for item in segments for token in item.tokens), rows, 0),
        "positions": positions,
        "row_offsets": row_offsets,
        "starts": starts,
        "lanes": lanes,
        "states": states,
        "block_offsets": np.append(lanes * width, np.int32(0)),
        "segments": owner,
        "keeps": np.where(ends[owner] % BLOCK == 0, NOTHING, lane_rows),
        "sources": np.arange(rows, dtype=np.int32),
        "delta_keeps": lane_rows,
        "lone": lone,
        "lone_rows": np.stack([np.minimum(row_offsets[:-1], rows - 1), states], 1),
    }
    arrays |= _folds(segments, rows)
    items, tiles = _tiles(counts, starts, ends, rows, heads)
    for height, some, cut in zip(TILES, items, tiles, strict=True):
        arrays |= {f"items{height}": some, f"tiles{height}": cut}
    sizes = Sizes(rows, len(arrays["folds"]), tuple(map(len, items)), tuple(map(len, tiles)))
    return PaddedPass(sizes, arrays)


def entry_pass(segments: Sequence[Segment], rows: int, lane: int, heads: Heads, width: int) -> PaddedPass:
    """A pass of a layer of attention alone, as `few_pass` but that segments may go past a boundary."""
    counts, row_offsets, owner, within = _rows_of(tuple(len(item.tokens) for item in segments), rows)
    starts, lanes, _ = _padded([(item.start, item.lane, ZERO_SLOT) for item in segments], rows, lane)
    arrays = {
        "tokens": _ints((token for item in segments for token in item.tokens), rows, 0),
        "positions": starts[owner] + within,
        "row_offsets": row_offsets,
        "starts": starts,
        "block_offsets": np.append(lanes * width, np.int32(0)),
        "segments": owner,
    }
    items, tiles = _tiles(counts, starts, starts + counts, rows, heads)
    for height, some, cut in zip(TILES, items, tiles, strict=True):
        arrays |= {f"items{height}": some, f"tiles{height}": cut}
    return PaddedPass(Sizes(rows, 0, tuple(map(len, items)), tuple(map(len, tiles))), arrays)


@lru_cache(512)
def _rows_of(given: tuple[int, ...], rows: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Of segments with so many rows, and added ones of one row up to `rows`: counts and first row of each, with the end; whose
    each row is, and its place there. Not to be written to."""
    counts = np.zeros(rows, np.int32)
    counts[: len(given)] = given
    counts[len(given) : len(given) + rows - sum(given)] = 1
    offsets = np.concatenate([np.zeros(1, np.int32), np.cumsum(counts, dtype=np.int32)])
    owner = np.repeat(np.arange(rows, dtype=np.int32), counts)
    return counts, offsets, owner, np.arange(rows, dtype=np.int32) - offsets[:-1][owner]


def _padded(given: Sequence[tuple[int, int, int]], rows: int, lane: int) -> Ints:
    """Starts, lanes and states [3, rows]."""
    numbers = np.empty((3, rows), np.int32)
    numbers[:] = ((0,), (lane,), (ZERO_SLOT,))
    if given:
        numbers[:, : len(given)] = np.array(given, np.int32).T
    return numbers


def _tiles(counts: Ints, starts: Ints, ends: Ints, rows: int, heads: Heads) -> tuple[list[Ints], list[Ints]]:
    if ends.max() > heads.split:
        return padded_tiles(counts, starts, heads, partial(by_rows, rows=rows), WAITING_PAIRS)
    return _short_tiles(tuple(counts.tolist()), rows, heads.group)


@lru_cache(512)
def _short_tiles(counts: tuple[int, ...], rows: int, group: int) -> tuple[list[Ints], list[Ints]]:
    """As padded_tiles, where all keys are in the first split. Not to be written to."""
    found: dict[int, list[tuple[int, int, int, int]]] = {height: [] for height in TILES}
    for segment, count in enumerate(counts):
        pairs = count * group
        height = next((height for height in TILES if pairs <= height), TILES[-1])
        found[height] += [(segment, first, 0, 1) for first in range(0, pairs, height)]
    items = [
        filled(np.array(some, np.int32).reshape(-1, 4), by_rows(len(some), rows), NO_ITEM) for some in found.values()
    ]
    return items, [np.empty((0, 4), np.int32) for _ in TILES]


def _folds(segments: Sequence[Segment], rows: int) -> dict[str, Ints]:
    """Boundaries that segments keep: at most one each, at its end."""
    if not any(item.writes for item in segments):
        return _no_folds(rows)
    kept = [(index, item, write) for index, item in enumerate(segments) for write in item.writes]
    size = fold_class(len(kept), rows)
    folds = [(item.lane, item.state, write.slot, 0) for _, item, write in kept]
    ends = np.cumsum([len(item.writes) for item in segments], dtype=np.int32)
    return {
        "write_offsets": filled(np.append(np.int32(0), ends), rows + 1, len(kept)),
        "write_positions": _ints((write.position for *_, write in kept), size, 0),
        "write_slots": _ints((write.slot for *_, write in kept), size, 0),
        "writes": filled(
            np.array([(index, n) for n, (index, _, _) in enumerate(kept)], np.int32).reshape(-1, 2), size, NOTHING
        ),
        "folds": filled(np.array(folds, np.int32).reshape(-1, 4), size, NO_FOLD),
    }


@lru_cache(16)
def _no_folds(rows: int) -> dict[str, Ints]:
    none, table = np.empty(0, np.int32), np.empty((0, 4), np.int32)
    return {
        "write_offsets": np.zeros(rows + 1, np.int32),
        "write_positions": none,
        "write_slots": none,
        "writes": table[:, :2],
        "folds": table,
    }


def fold_class(count: int, rows: int) -> int:
    """None, few, or one a row."""
    few = max(1, rows // 8)
    return 0 if not count else few if count <= few else rows


def _ints(values: Any, size: int, value: int) -> Ints:
    given = np.fromiter(values, np.int32)
    return filled(given, size, value)
