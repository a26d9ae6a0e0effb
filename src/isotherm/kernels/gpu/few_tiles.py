"""Attention's tiles for a recorded pass: as attention/plan.py makes them, padded to sizes that many passes share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from isotherm.core.constants import BLOCK
from isotherm.kernels.attention.plan import TILES
from isotherm.kernels.gpu.upload import Ints

NO_PAIR = 1 << 20
"""A first pair beyond every segment's last."""

NO_ITEM, _NO_TILE = (0, NO_PAIR, 0, 0), (0, NO_PAIR, 0, 1)


@dataclass(frozen=True, slots=True)
class Heads:
    """Of attention: key-value heads, query heads for each, keys a split."""

    heads: int
    group: int
    split: int


def padded_tiles(
    counts: Ints, starts: Ints, heads: Heads, size_for: Callable[[int], int], waiting: int
) -> tuple[list[Ints], list[Ints]]:
    """items [W, 4] and tiles [X, 4] of each height, for segments of `counts` rows from positions `starts` on.

    size_for: how long a table of so many entries is made. waiting: pairs whose splits may wait in memory; tiles that would leave
    more are not cut. Neither is part of the bits.
    """
    items, tiles = [], []
    for height, chosen in _heights(counts * heads.group):
        some, cut = _tiles(chosen, counts, starts, height, heads, size_for, waiting)
        items.append(filled(some, size_for(len(some)), NO_ITEM))
        tiles.append(filled(cut, size_for(len(cut)), _NO_TILE))
    return items, tiles


def filled(array: Ints, size: int, value: int | tuple[int, ...]) -> Ints:
    """The array, and `value` to the end of `size` rows."""
    out = np.empty((size, *array.shape[1:]), np.int32)
    out[: len(array)] = array
    out[len(array) :] = value
    return out


def _heights(pairs: Ints) -> Iterator[tuple[int, Ints]]:
    """Each height of a tile, and the segments that have it."""
    below = 0
    for height in TILES:
        most = height if height != TILES[-1] else np.iinfo(np.int32).max
        yield height, np.flatnonzero((pairs > below) & (pairs <= most)).astype(np.int32)
        below = height


def _tiles(
    segments: Ints, counts: Ints, starts: Ints, height: int, heads: Heads, size_for: Callable[[int], int], waiting: int
) -> tuple[Ints, Ints]:
    if not len(segments):
        return np.empty((0, 4), np.int32), np.empty((0, 4), np.int32)
    pairs = counts[segments] * heads.group
    each = -(-pairs // height)
    first = (np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)) * height
    owner, total = np.repeat(segments, each), np.repeat(pairs, each)
    start, end = starts[owner], (starts + counts)[owner]
    last = start + np.minimum(first + height, total) // heads.group
    keys = -(-np.minimum(last + 1, end) // BLOCK) * BLOCK
    splits = -(-keys // heads.split)
    order = np.argsort(-keys, kind="stable")  # long ones first
    owner, first, splits = owner[order], first[order], splits[order]
    if (splits <= 1).all() or size_for(int(splits.sum())) * heads.heads * height > waiting:
        return _table(owner, first, np.zeros_like(splits), splits), np.empty((0, 4), np.int32)
    ends = np.cumsum(splits)
    split = np.arange(splits.sum()) - np.repeat(ends - splits, splits)
    items = _table(np.repeat(owner, splits), np.repeat(first, splits), split, split + 1)
    return items, _table(owner, first, ends - splits, ends)


def by_rows(count: int, rows: int) -> int:
    """0, or rows times a power of two."""
    size = rows if count else 0
    while size < count:
        size *= 2
    return size


def _table(*columns: Ints) -> Ints:
    return np.stack(columns, 1).astype(np.int32)
