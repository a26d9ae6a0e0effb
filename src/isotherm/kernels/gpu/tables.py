"""Every lane's block table, kept on the device: it grows by an entry every 64 tokens, and is sent only as it changes."""

from collections.abc import Sequence

import torch

from isotherm.core.constants import NULL_BLOCK
from isotherm.core.plan import Segment


class BlockTables:
    """tensor: [lanes, width] int32. Owns it and what it holds now; the last lane's entries stay the null block."""

    def __init__(self, lanes: int, width: int, device: torch.device):
        self.width = width
        self.tensor = torch.full((lanes, width), NULL_BLOCK, dtype=torch.int32, device=device)
        self._held: dict[int, tuple[int, ...]] = {}

    def update(self, segments: Sequence[Segment]) -> None:
        """The tables of these segments' lanes."""
        for item in segments:
            held = self._held.get(item.lane, ())
            if item.blocks != held:
                same = _common(held, item.blocks)
                entries = torch.tensor(item.blocks[same:], dtype=torch.int32)
                self.tensor[item.lane, same : len(item.blocks)].copy_(entries)
                self._held[item.lane] = item.blocks


def _common(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """How many entries they begin with in common."""
    if b[: len(a)] == a:
        return len(a)
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
