"""A pass of few rows laid out for a recorded pass: every array padded to a size that many passes share.

A recorded pass (a CUDA graph) has fixed launches over fixed memory, so the passes that play it differ in numbers only. Rows that
are added are sequences of one token in a lane and a block that nobody else uses; other tables are padded with entries that their
kernels skip. No added entry reaches a live row, and a row's bits do not depend on which other rows there are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from isotherm.core.constants import BLOCK, NULL_BLOCK, ZERO_SLOT
from isotherm.kernels.attention.plan import TILES, AttentionPlan, TilePlan
from isotherm.kernels.batch import Batch
from isotherm.kernels.gated_delta.plan import LONE_ROWS, DeltaPlan
from isotherm.kernels.gpu.batch import DeviceBatch
from isotherm.kernels.gpu.rows import RowPlan
from isotherm.kernels.gpu.upload import Ints, offsets_of

NOTHING = -1

_NO_PAIR = 1 << 20
"""A first pair beyond every segment's last."""

_NO_ITEM, _NO_TILE = (0, _NO_PAIR, 0, 0), (0, _NO_PAIR, 0, 1)


@dataclass(frozen=True, slots=True)
class Heads:
    """Of attention: key-value heads, query heads for each, keys a split."""

    heads: int
    group: int
    split: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """What passes must share to play one record. items, tiles: of attention, by height; no tiles where no item is a part of one.
    blocks: the most entries of all block tables."""

    rows: int
    blocks: int
    folds: int
    items: tuple[int, ...]
    tiles: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FewPass:
    """arrays: by name, in the order of a record's memory, `blocks` last, which alone may be shorter than `sizes` says."""

    sizes: Sizes
    arrays: dict[str, Ints]

    def write(self, space: Ints, offsets: dict[str, int]) -> None:
        """Into memory laid out by `places`."""
        for name, array in self.arrays.items():
            start = offsets[name]
            space[start : start + array.size] = array.reshape(-1)


def is_few(batch: Batch, most: int) -> bool:
    """Whether every segment is computed row by row, and there are at most so many rows."""
    if batch.rows > most:
        return False
    counts, starts = np.diff(batch.row_offsets.numpy()), batch.starts.numpy()
    return bool((counts <= LONE_ROWS).all() and (starts % BLOCK + counts <= BLOCK).all())


def few_pass(batch: Batch, tokens: Tensor, rows: int, lane: int, heads: Heads) -> FewPass:
    """A pass for which `is_few` holds, at `rows` rows; added ones use `lane`."""
    padded = _Padded(batch, rows, lane)
    (items, tiles), folds = padded.attention(heads), padded.folds()
    arrays = {"tokens": _filled(tokens.numpy(), rows, 0)} | padded.rows_and_segments() | folds
    for height, (some, cut) in zip(TILES, zip(items, tiles, strict=True), strict=True):
        arrays |= {f"items{height}": some, f"tiles{height}": cut}
    sizes = Sizes(
        rows,
        _blocks_class(len(padded.blocks), rows),
        len(folds["folds"]),
        tuple(map(len, items)),
        tuple(map(len, tiles)),
    )
    return FewPass(sizes, arrays | {"blocks": padded.blocks})


def places(few: FewPass) -> tuple[dict[str, int], int]:
    """Where each array of such a pass begins, and where `blocks` does."""
    offsets = offsets_of([array.size for array in few.arrays.values()])
    return dict(zip(few.arrays, offsets, strict=False)), offsets[len(few.arrays) - 1]


def device_batch(few: FewPass, host: Batch, memory: Tensor, heads: Heads) -> tuple[DeviceBatch, Tensor]:
    """A batch, and its tokens, whose arrays and plans are ranges of `memory`, int32 on the device."""
    offsets, _ = places(few)

    def at(name: str) -> Tensor:
        shape, start = few.arrays[name].shape, offsets[name]
        return memory[start:] if name == "blocks" else memory[start : start + int(np.prod(shape))].view(shape)

    none = memory[:0]
    names = ("positions", "row_offsets", "starts", "lanes", "states", "write_offsets", "write_positions", "write_slots")
    arrays: dict[str, Any] = {name: at(name) for name in (*names, "block_offsets", "blocks")}
    batch = DeviceBatch(**arrays, host=host)
    tables = (TilePlan(height, at(f"items{height}"), at(f"tiles{height}")) for height in TILES)
    batch.plans["attention", heads.heads, heads.group, heads.split] = AttentionPlan(*tables)
    batch.plans["rows"] = RowPlan(at("segments"), at("keeps"), none.view(0, 2), at("writes"))
    batch.plans["gated_delta"] = DeltaPlan(
        sources=at("sources"),
        keeps=at("delta_keeps"),
        opened=none,
        tiles=none.view(0, 8),
        spans=none.view(0, 4),
        lone=at("lone"),
        lone_rows=at("lone_rows"),
        folds=at("folds"),
    )
    return batch, at("tokens")


class _Padded:
    """A batch at `rows` rows and as many segments, the last of which may be empty."""

    def __init__(self, batch: Batch, rows: int, lane: int):
        self._batch, self._rows = batch, rows
        live, added = batch.segments, rows - batch.rows
        self._counts = np.zeros(rows, np.int32)
        self._counts[:live] = np.diff(batch.row_offsets.numpy())
        self._counts[live : live + added] = 1
        self._lane = lane
        self._starts = _filled(batch.starts.numpy(), rows, 0)
        self._lanes = _filled(batch.lanes.numpy(), rows, lane)
        self._states = _filled(batch.states.numpy(), rows, ZERO_SLOT)
        self._row_offsets = _offsets(self._counts)
        self._segments = np.repeat(np.arange(rows, dtype=np.int32), self._counts)
        self.blocks = np.concatenate([batch.blocks.numpy(), np.full(added, NULL_BLOCK, np.int32)])
        tables = np.zeros(rows, np.int32)
        tables[:live] = np.diff(batch.block_offsets.numpy())
        tables[live : live + added] = 1
        self._block_offsets = _offsets(tables)

    def rows_and_segments(self) -> dict[str, Ints]:
        positions = _filled(self._batch.positions.numpy(), self._rows, 0)
        lane_rows = self._lanes[self._segments] * BLOCK + positions % BLOCK
        ends = self._starts + self._counts
        lone = np.stack([self._row_offsets[:-1], self._counts, self._starts % BLOCK, self._lanes], 1)
        lone[self._counts == 0] = (0, 0, 1, self._lane)
        return {
            "positions": positions,
            "row_offsets": self._row_offsets,
            "starts": self._starts,
            "lanes": self._lanes,
            "states": self._states,
            "block_offsets": self._block_offsets,
            "segments": self._segments,
            "keeps": np.where(ends[self._segments] % BLOCK == 0, NOTHING, lane_rows),
            "sources": np.arange(self._rows, dtype=np.int32),
            "delta_keeps": lane_rows,
            "lone": lone,
            "lone_rows": np.stack([np.minimum(self._row_offsets[:-1], self._rows - 1), self._states], 1),
        }

    def folds(self) -> dict[str, Ints]:
        """Boundaries that segments keep: at most one each, at its end."""
        batch = self._batch
        counts, slots = np.diff(batch.write_offsets.numpy()), batch.write_slots.numpy()
        owner = np.repeat(np.arange(batch.segments, dtype=np.int32), counts)
        size = _fold_class(len(slots), self._rows)
        folds = np.stack([self._lanes[owner], self._states[owner], slots, np.zeros_like(slots)], 1)
        writes = np.stack([owner, np.arange(len(slots), dtype=np.int32)], 1)
        ends = batch.write_offsets.numpy()
        return {
            "write_offsets": _filled(ends, self._rows + 1, int(ends[-1])),
            "write_positions": _filled(batch.write_positions.numpy(), size, 0),
            "write_slots": _filled(slots, size, 0),
            "writes": _filled(writes, size, NOTHING),
            "folds": _filled(folds, size, (0, 0, NOTHING, 0)),
        }

    def attention(self, heads: Heads) -> tuple[list[Ints], list[Ints]]:
        """items and tiles of each height: as isotherm.kernels.attention.plan makes them, padded."""
        items, tiles = [], []
        for height, chosen in self._heights(heads.group):
            some, cut = self._tiles(chosen, height, heads)
            items.append(_filled(some, _class(len(some), self._rows), _NO_ITEM))
            tiles.append(_filled(cut, _class(len(cut), self._rows), _NO_TILE))
        return items, tiles

    def _heights(self, group: int) -> Iterator[tuple[int, Ints]]:
        """Each height of a tile, and the segments that have it."""
        pairs, below = self._counts * group, 0
        for height in TILES:
            most = height if height != TILES[-1] else np.iinfo(np.int32).max
            yield height, np.flatnonzero((pairs > below) & (pairs <= most)).astype(np.int32)
            below = height

    def _tiles(self, segments: Ints, height: int, heads: Heads) -> tuple[Ints, Ints]:
        pairs = self._counts[segments] * heads.group
        counts = -(-pairs // height)
        first = (np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)) * height
        owner, total = np.repeat(segments, counts), np.repeat(pairs, counts)
        start, end = self._starts[owner], (self._starts + self._counts)[owner]
        last = start + np.minimum(first + height, total) // heads.group
        keys = -(-np.minimum(last + 1, end) // BLOCK) * BLOCK
        splits = -(-keys // heads.split)
        order = np.argsort(-keys, kind="stable")  # long ones first
        owner, first, splits = owner[order], first[order], splits[order]
        if (splits <= 1).all():
            return _table(owner, first, np.zeros_like(splits), splits), np.empty((0, 4), np.int32)
        ends = np.cumsum(splits)
        split = np.arange(splits.sum()) - np.repeat(ends - splits, splits)
        items = _table(np.repeat(owner, splits), np.repeat(first, splits), split, split + 1)
        return items, _table(owner, first, ends - splits, ends)


def _class(count: int, rows: int) -> int:
    """0, or rows times a power of two."""
    size = rows if count else 0
    while size < count:
        size *= 2
    return size


def _blocks_class(count: int, rows: int) -> int:
    size = 64 * max(rows, 16)
    while size < count:
        size *= 8
    return size


def _fold_class(count: int, rows: int) -> int:
    """None, few, or one a row."""
    few = max(1, rows // 8)
    return 0 if not count else few if count <= few else rows


def _table(*columns: Ints) -> Ints:
    return np.stack(columns, 1).astype(np.int32)


def _offsets(counts: Ints) -> Ints:
    return np.concatenate([np.zeros(1, np.int32), np.cumsum(counts, dtype=np.int32)])


def _filled(array: Ints, size: int, value: int | tuple[int, ...]) -> Ints:
    """The array, and `value` to the end of `size` rows."""
    out = np.empty((size, *array.shape[1:]), np.int32)
    out[: len(array)] = array
    out[len(array) :] = value
    return out


def empty_memory(size: int, device: torch.device) -> Tensor:
    """For `size` numbers of a record."""
    return torch.zeros(size, dtype=torch.int32, device=device)
