"""A pass plan -> index arrays."""

from collections.abc import Iterable
from itertools import accumulate, chain

import torch
from torch import Tensor

from isotherm.core.plan import PassPlan
from isotherm.kernels.batch import Batch


def lay_out(plan: PassPlan) -> tuple[Batch, Tensor]:
    """The batch, and its tokens [M] int32, segments one after the other in the plan's order."""
    segments = plan.segments
    batch = Batch(
        positions=_ints(chain.from_iterable(range(item.start, item.end) for item in segments)),
        row_offsets=_offsets(len(item.tokens) for item in segments),
        starts=_ints(item.start for item in segments),
        lanes=_ints(item.lane for item in segments),
        states=_ints(item.state for item in segments),
        write_offsets=_offsets(len(item.writes) for item in segments),
        write_positions=_ints(write.position for item in segments for write in item.writes),
        write_slots=_ints(write.slot for item in segments for write in item.writes),
        block_offsets=_offsets(len(item.blocks) for item in segments),
        blocks=_ints(chain.from_iterable(item.blocks for item in segments)),
        replays=tuple(item.replay for item in segments) if any(item.replay for item in segments) else None,
        drafts=tuple(item.drafts for item in segments) if any(item.drafts for item in segments) else None,
    )
    return batch, _ints(chain.from_iterable(item.tokens for item in segments))


def _ints(values: Iterable[int]) -> Tensor:
    return torch.tensor(list(values), dtype=torch.int32)


def _offsets(lengths: Iterable[int]) -> Tensor:
    return _ints(accumulate(lengths, initial=0))
