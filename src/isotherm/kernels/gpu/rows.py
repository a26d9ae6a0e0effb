"""How the GPU walks a batch row by row: each row's segment, and what is kept of it."""

from dataclasses import dataclass

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK, block_floor
from isotherm.kernels.batch import Batch
from isotherm.kernels.gpu.batch import DeviceBatch
from isotherm.kernels.segments import SegmentView, segment_views

NOTHING = -1


@dataclass(frozen=True, slots=True)
class RowPlan:
    """int32 arrays.

    segments: [M] each row's segment. keeps: [M] the lane row (64 a lane) that a row's input is kept in at once, or -1.
    late: [L, 2] row, lane row: kept in a second launch, because the same pass still reads what lies there.
    writes: [W, 2] segment, and which of the batch's writes; a segment of -1 is nothing (padding of a recorded pass).
    """

    segments: Tensor
    keeps: Tensor
    late: Tensor
    writes: Tensor


def row_plan(batch: DeviceBatch) -> RowPlan:
    """The batch's plan, on its device."""
    return batch.plan("rows", plan_rows)


def plan_rows(batch: Batch) -> RowPlan:
    """From a batch on the CPU.

    A segment reads lane rows of positions before its start and writes those since its last boundary. They are other rows, unless
    it begins inside a block and ends beyond it.
    """
    views = list(segment_views(batch))
    segments: list[Tensor] = []
    keeps: list[Tensor] = []
    late: list[Tensor] = []
    writes: list[tuple[int, int]] = []
    at = 0
    for i, view in enumerate(views):
        rows = view.end - view.start
        segments.append(torch.full((rows,), i))
        first = max(block_floor(view.end), view.start)
        held = torch.arange(first, view.end)
        lane_rows = view.lane * BLOCK + held % BLOCK
        own = torch.full((rows,), NOTHING)
        if _overlaps(view):
            late.append(torch.stack([view.row + held - view.start, lane_rows], 1))
        else:
            own[first - view.start :] = lane_rows
        keeps.append(own)
        writes.extend((i, at + n) for n in range(len(view.writes)))
        at += len(view.writes)
    empty = torch.empty(0, dtype=torch.int32)
    return RowPlan(
        segments=torch.cat([empty, *segments]).int(),
        keeps=torch.cat([empty, *keeps]).int(),
        late=torch.cat([empty.view(0, 2), *late]).int(),
        writes=torch.tensor(writes, dtype=torch.int32).reshape(-1, 2),
    )


def _overlaps(view: SegmentView) -> bool:
    return view.start > view.base and view.end > view.base + BLOCK
