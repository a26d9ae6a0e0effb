"""A pass plan -> index arrays."""

from array import array
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from isotherm.core.plan import PassPlan
from isotherm.kernels.batch import Batch


def lay_out(plan: PassPlan) -> tuple[Batch, Tensor]:
    """The batch, and its tokens [M] int32, segments one after the other in the plan's order. All lie in one piece of memory."""
    segments = plan.segments
    counts = [len(item.tokens) for item in segments]
    writes = [write for item in segments for write in item.writes]
    parts = {
        "positions": [position for item in segments for position in range(item.start, item.end)],
        "row_offsets": list(accumulate(counts, initial=0)),
        "starts": [item.start for item in segments],
        "lanes": [item.lane for item in segments],
        "states": [item.state for item in segments],
        "write_offsets": list(accumulate([len(item.writes) for item in segments], initial=0)),
        "write_positions": [write.position for write in writes],
        "write_slots": [write.slot for write in writes],
        "block_offsets": list(accumulate([len(item.blocks) for item in segments], initial=0)),
        "blocks": [block for item in segments for block in item.blocks],
        "tokens": [token for item in segments for token in item.tokens],
    }
    numbers = array("i")
    for part in parts.values():
        numbers.fromlist(part)
    whole = torch.frombuffer(numbers, dtype=torch.int32)
    arrays: dict[str, Any] = dict(
        zip(parts, torch.split_with_sizes(whole, list(map(len, parts.values()))), strict=True)
    )
    tokens: Tensor = arrays.pop("tokens")
    replays = tuple(item.replay for item in segments) if any(item.replay for item in segments) else None
    drafts = tuple(item.drafts for item in segments) if any(item.drafts for item in segments) else None
    return Batch(**arrays, replays=replays, drafts=drafts), tokens
