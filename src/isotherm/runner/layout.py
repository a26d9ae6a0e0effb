"""A pass plan -> index arrays."""

from array import array
from itertools import accumulate

import torch
from torch import Tensor

from isotherm.core.plan import PassPlan
from isotherm.kernels.batch import Batch


def lay_out(plan: PassPlan) -> tuple[Batch, Tensor]:
    """The batch, and its tokens [M] int32, segments one after the other in the plan's order. All lie in one piece of memory."""
    segments = plan.segments
    counts = [len(item.tokens) for item in segments]
    writes = [write for item in segments for write in item.writes]
    parts = (
        [position for item in segments for position in range(item.start, item.start + len(item.tokens))],
        list(accumulate(counts, initial=0)),
        [item.start for item in segments],
        [item.lane for item in segments],
        [item.state for item in segments],
        list(accumulate([len(item.writes) for item in segments], initial=0)),
        [write.position for write in writes],
        [write.slot for write in writes],
        list(accumulate([len(item.blocks) for item in segments], initial=0)),
        [block for item in segments for block in item.blocks],
        [token for item in segments for token in item.tokens],
    )
    numbers = array("i")
    for part in parts:
        numbers.fromlist(part)
    whole = torch.frombuffer(numbers, dtype=torch.int32)
    *arrays, tokens = torch.split_with_sizes(whole, [len(part) for part in parts])
    batch = Batch(
        *arrays,
        replays=tuple(item.replay for item in segments) if any(item.replay for item in segments) else None,
        drafts=tuple(item.drafts for item in segments) if any(item.drafts for item in segments) else None,
    )
    return batch, tokens
