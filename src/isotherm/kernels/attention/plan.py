"""How the GPU walks a batch in attention: tiles of (row, query head) pairs, and which of them are cut by split."""

from dataclasses import dataclass

import torch
from torch import Tensor

from isotherm.core.constants import blocks_for
from isotherm.kernels.batch import Batch
from isotherm.kernels.segments import SegmentView, segment_views

TILES = (16, 64, 128)
"""Pairs a tile, for segments of few, some and many pairs."""

WAITING_PAIRS = 3 << 19
"""Cutting tiles by split is faster as long as the results of so many pairs of splits may wait in memory: 1.5 GiB at D = 256."""


@dataclass(frozen=True, slots=True)
class TilePlan:
    """Work for tiles of `pairs` pairs; int32.

    items: [W, 4] segment, first pair, first split, end split. tiles: [X, 4] segment, first pair, first item, end item where items
    are single splits, else empty.
    """

    pairs: int
    items: Tensor
    tiles: Tensor


@dataclass(frozen=True, slots=True)
class AttentionPlan:
    """The work of one tile height each."""

    small: TilePlan
    middle: TilePlan
    large: TilePlan

    @property
    def parts(self) -> tuple[TilePlan, ...]:
        """Those that have work."""
        return tuple(part for part in (self.small, self.middle, self.large) if part.items.shape[0])


def plan_attention(batch: Batch, heads: int, group: int, split: int) -> AttentionPlan:
    """From a batch on the CPU. heads: of keys and values; group: query heads for each."""
    views = list(segment_views(batch))
    chosen = [_height((view.end - view.start) * group) for view in views]
    parts = (_part(batch, views, chosen, pairs, heads, group, split) for pairs in TILES)
    return AttentionPlan(*parts)


def _height(pairs: int) -> int:
    return next((tile for tile in TILES if pairs <= tile), TILES[-1])


def _part(
    batch: Batch, views: list[SegmentView], chosen: list[int], pairs: int, heads: int, group: int, split: int
) -> TilePlan:
    tiles = []  # (splits, segment, first pair)
    for i, view in enumerate(views):
        if chosen[i] == pairs:
            total = (view.end - view.start) * group
            for first in range(0, total, pairs):
                last = view.start + min(first + pairs, total) // group
                tiles.append((blocks_for(min(last + 1, view.end)) * 64, i, first))
    tiles.sort(reverse=True)  # long ones first
    walked = [(-(-keys // split), segment, first) for keys, segment, first in tiles]
    splits_in_all = sum(splits for splits, _, _ in walked)
    if splits_in_all * heads * pairs > WAITING_PAIRS or splits_in_all == len(walked):
        return TilePlan(pairs, _table([(s, first, 0, splits) for splits, s, first in walked]), _table([]))
    items: list[tuple[int, int, int, int]] = []
    cut: list[tuple[int, int, int, int]] = []
    for splits, s, first in walked:
        cut.append((s, first, len(items), len(items) + splits))
        items.extend((s, first, i, i + 1) for i in range(splits))
    return TilePlan(pairs, _table(items), _table(cut))


def _table(rows: list[tuple[int, int, int, int]]) -> Tensor:
    return torch.tensor(rows, dtype=torch.int32).reshape(-1, 4)
