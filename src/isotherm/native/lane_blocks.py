"""Keys and values that belong to live sequences alone: blocks handed out lane by lane, more of them as they are needed."""

from dataclasses import replace

import torch

from isotherm.core.constants import blocks_for
from isotherm.kernels.state import KVShape
from isotherm.native.attention import kv_store

FIRST = 64
"""Blocks to begin with; then twice as many whenever they run out."""


class LaneBlocks:
    """The store, and which of its blocks hold positions 0.. of the sequence in each lane."""

    def __init__(self, shape: KVShape):
        self.store = kv_store(shape, FIRST)
        self._free = list(range(FIRST))
        self._of: dict[int, list[int]] = {}

    def begin(self, lane: int) -> None:
        """Another sequence is in the lane: what was there is of no more use."""
        self._free += self._of.pop(lane, [])

    def cover(self, lane: int, end: int) -> tuple[int, ...]:
        """The lane's blocks, enough of them for positions before `end`."""
        blocks = self._of.setdefault(lane, [])
        while len(blocks) < blocks_for(end):
            if not self._free:
                self._grow()
            blocks.append(self._free.pop())
        return tuple(blocks)

    def _grow(self) -> None:
        had = self.store.k.shape[0]
        k, v = (torch.cat((old, torch.empty_like(old))) for old in (self.store.k, self.store.v))
        self.store = replace(self.store, k=k, v=v)
        self._free = list(range(had, 2 * had))
