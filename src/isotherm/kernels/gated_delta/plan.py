"""How the GPU walks a batch in the gated delta rule: which chunks are computed whole, and which rows alone."""

from dataclasses import dataclass

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK
from isotherm.kernels.batch import Batch
from isotherm.kernels.segments import SegmentView, segment_views

LONE_ROWS = 16
"""A segment of at most this many rows, all inside one chunk, is computed row by row."""

_NOTHING = -1


@dataclass(frozen=True, slots=True)
class DeltaPlan:
    """int32 arrays on the batch's device, and their sizes.

    Places: 64 for each of the T chunk tiles, then one for each lone row.
    sources: [places] a batch row, -1 (nothing), or -2-n for row n of the lanes (64 a lane). keeps: [places] the lane row that
    keeps a lone row's inputs, or -1. opened: the tiles whose chunk stays open.
    tiles: [T, 8] segment, batch row of the chunk's first position (negative where it came in earlier passes), first new row, end
    row, lane, slot to write or -1, and two unused. spans: [segments, 4] first tile, end tile, slot to read, unused.
    lone: [segments, 4] first place, rows, row of the chunk, lane. lone_rows: [segments, 2] batch row, slot to read.
    folds: [F, 4] lane, slot to read, slot to write, unused, of lone segments that fill their chunk.
    """

    sources: Tensor
    keeps: Tensor
    opened: Tensor
    tiles: Tensor
    spans: Tensor
    lone: Tensor
    lone_rows: Tensor
    folds: Tensor


def plan_delta(batch: Batch) -> DeltaPlan:
    """From a batch on the CPU; the arrays are on the CPU too."""
    builder = _Builder()
    whole = [view for view in segment_views(batch) if not _alone(view)]
    for view in whole:
        builder.add_chunks(view)
    for view in segment_views(batch):
        if _alone(view):
            builder.add_rows(view)
    return builder.plan()


def _alone(view: SegmentView) -> bool:
    return view.end - view.start <= LONE_ROWS and view.end <= view.base + BLOCK


class _Builder:
    """Lists that grow segment by segment."""

    def __init__(self) -> None:
        self.sources: list[Tensor] = []
        self.keeps: list[Tensor] = []
        self.opened: list[int] = []
        self.tiles: list[list[int]] = []
        self.spans: list[list[int]] = []
        self.lone: list[list[int]] = []
        self.lone_rows: list[list[int]] = []
        self.folds: list[list[int]] = []
        self.places = 0

    def add_chunks(self, view: SegmentView) -> None:
        slots, first = dict(view.writes), len(self.tiles)
        for base in range(view.base, view.end, BLOCK):
            low, high = max(view.start - base, 0), min(view.end - base, BLOCK)
            row = view.row + base - view.start
            slot = slots.get(base + BLOCK, _NOTHING)
            if high < BLOCK:
                self.opened.append(len(self.tiles))
            self.tiles.append([len(self.spans), row, low, high, view.lane, slot, 0, 0])
            self._place(view.lane, row, low, high, BLOCK)
        self.spans.append([first, len(self.tiles), view.state, 0])

    def add_rows(self, view: SegmentView) -> None:
        low, rows = view.start - view.base, view.end - view.start
        self.lone.append([self.places, rows, low, view.lane])
        self.lone_rows.append([view.row, view.state])
        self.folds.extend([view.lane, view.state, slot, 0] for _, slot in view.writes)
        self.sources.append(torch.arange(view.row, view.row + rows))
        self.keeps.append(torch.arange(view.lane * BLOCK + low, view.lane * BLOCK + low + rows))
        self.places += rows

    def _place(self, lane: int, row: int, low: int, high: int, size: int) -> None:
        """One chunk tile: `low` rows of the lane, then batch rows to `high`, then nothing."""
        i = torch.arange(size)
        source = torch.where(i < low, -2 - (lane * BLOCK + i), torch.where(i < high, row + i, _NOTHING))
        self.sources.append(source)
        self.keeps.append(torch.full((size,), _NOTHING))
        self.places += size

    def plan(self) -> DeltaPlan:
        empty = torch.empty(0, dtype=torch.int32)
        return DeltaPlan(
            sources=torch.cat([empty, *self.sources]).int(),
            keeps=torch.cat([empty, *self.keeps]).int(),
            opened=torch.tensor(self.opened, dtype=torch.int32),
            tiles=_table(self.tiles, 8),
            spans=_table(self.spans, 4),
            lone=_table(self.lone, 4),
            lone_rows=_table(self.lone_rows, 2),
            folds=_table(self.folds, 4),
        )


def _table(rows: list[list[int]], columns: int) -> Tensor:
    return torch.tensor(rows, dtype=torch.int32).reshape(-1, columns)
