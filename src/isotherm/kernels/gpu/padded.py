"""A pass whose index arrays are padded to sizes that many passes share, for a recorded pass to play.

A recorded pass (a CUDA graph) has fixed launches over fixed memory, so the passes that play it differ in numbers only. Added
entries are of a lane and a block that nobody has, or their kernels skip them: none reaches a live row, and a row's bits do not
depend on which other rows there are.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from isotherm.kernels.attention.plan import TILES, AttentionPlan, TilePlan
from isotherm.kernels.gated_delta.plan import DeltaPlan
from isotherm.kernels.gpu.batch import DeviceBatch
from isotherm.kernels.gpu.few_tiles import Heads
from isotherm.kernels.gpu.rows import RowPlan
from isotherm.kernels.gpu.upload import Ints, offsets_of

_BATCH = (
    "positions",
    "row_offsets",
    "starts",
    "lanes",
    "states",
    "write_offsets",
    "write_positions",
    "write_slots",
    "block_offsets",
)


@dataclass(frozen=True, slots=True)
class PaddedPass:
    """sizes: what passes must share to play one record. arrays: by name, in the order of a record's memory."""

    sizes: Hashable
    arrays: dict[str, Ints]

    def places(self) -> tuple[dict[str, int], int]:
        """Where each array begins in a record's memory, and how long that is."""
        offsets = offsets_of([array.size for array in self.arrays.values()])
        return dict(zip(self.arrays, offsets, strict=False)), offsets[-1]

    def write(self, space: Ints, offsets: dict[str, int]) -> None:
        """Into memory laid out by `places`."""
        for name, array in self.arrays.items():
            start = offsets[name]
            space[start : start + array.size] = array.reshape(-1)


def device_batch(
    padded: PaddedPass, memory: Tensor, tables: Tensor, heads: Heads
) -> tuple[DeviceBatch, Tensor, Tensor]:
    """A batch, its tokens and the rows asked for, whose arrays and plans are ranges of `memory`, int32 on the device.

    tables: [lanes, width] the block table of every lane. Arrays that a kind of pass does not have are empty.
    """
    offsets, _ = padded.places()

    def at(name: str, *shape: int) -> Tensor:
        if name not in padded.arrays:
            return torch.empty(shape or (0,), dtype=torch.int32, device=memory.device)
        array, start = padded.arrays[name], offsets[name]
        return memory[start : start + array.size].view(array.shape)

    arrays: dict[str, Any] = {name: at(name) for name in _BATCH}
    idle = "spans" in padded.arrays
    batch = DeviceBatch(**arrays, blocks=tables.view(-1), host=None, idle=idle)
    parts = (TilePlan(height, at(f"items{height}"), at(f"tiles{height}")) for height in TILES)
    batch.plans["attention", heads.heads, heads.group, heads.split] = AttentionPlan(*parts)
    batch.plans["rows"] = RowPlan(at("segments"), at("keeps"), at("late", 0, 2), at("writes"))
    batch.plans["gated_delta"] = DeltaPlan(
        sources=at("sources"),
        keeps=at("delta_keeps"),
        opened=at("opened"),
        tiles=at("chunks", 0, 8),
        spans=at("spans", 0, 4),
        lone=at("lone"),
        lone_rows=at("lone_rows"),
        folds=at("folds"),
    )
    return batch, at("tokens"), at("asked")
