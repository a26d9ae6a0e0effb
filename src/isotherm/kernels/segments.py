"""A batch read segment by segment, for the forms that are written in torch, and the simplest batch there is."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from isotherm.core.constants import block_floor, blocks_for
from isotherm.kernels.batch import Batch


@dataclass(frozen=True, slots=True)
class SegmentView:
    """One segment of a batch as plain numbers.

    row: its first row in the batch. start, end: absolute positions. state: the slot of the boundary at or before `start`.
    writes: (boundary, slot) pairs, ascending. blocks: the block table from position 0.
    """

    row: int
    start: int
    end: int
    lane: int
    state: int
    writes: tuple[tuple[int, int], ...]
    blocks: tuple[int, ...]

    @property
    def base(self) -> int:
        """The block boundary at or before `start`, whose state the segment reads."""
        return block_floor(self.start)


def segment_views(batch: Batch) -> Iterator[SegmentView]:
    """The batch's segments in order."""
    rows, starts = batch.row_offsets.tolist(), batch.starts.tolist()
    lanes, states = batch.lanes.tolist(), batch.states.tolist()
    write_offsets, block_offsets = batch.write_offsets.tolist(), batch.block_offsets.tolist()
    writes = list(zip(batch.write_positions.tolist(), batch.write_slots.tolist(), strict=True))
    blocks = batch.blocks.tolist()
    for i in range(batch.segments):
        yield SegmentView(
            row=rows[i],
            start=starts[i],
            end=starts[i] + rows[i + 1] - rows[i],
            lane=lanes[i],
            state=states[i],
            writes=tuple(writes[write_offsets[i] : write_offsets[i + 1]]),
            blocks=tuple(blocks[block_offsets[i] : block_offsets[i + 1]]),
        )


def one_segment(start: int, tokens: int) -> Batch:
    """A batch of one segment alone in its stores: lane 0, block i in place i, slots 0 (read) and 1 (last boundary)."""
    end = start + tokens
    writes = [block_floor(end)] if block_floor(end) > start else []
    counts = {
        "positions": range(start, end),
        "row_offsets": (0, tokens),
        "starts": (start,),
        "lanes": (0,),
        "states": (0,),
        "write_offsets": (0, len(writes)),
        "write_positions": writes,
        "write_slots": [1] * len(writes),
        "block_offsets": (0, blocks_for(end)),
        "blocks": range(blocks_for(end)),
    }
    arrays: dict[str, Any] = {name: torch.tensor(list(values), dtype=torch.int32) for name, values in counts.items()}
    return Batch(**arrays)
