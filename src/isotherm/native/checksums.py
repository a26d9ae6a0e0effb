"""Does a restored state have the bytes that were saved?"""

import hashlib
from collections.abc import Mapping

import torch
from torch import Tensor

from isotherm.core.plan import PassPlan


class Checksums:
    """Hashes every state that a pass saves, and compares every one that a pass restores with its hash.

    by_slot: all state and aux state, [slots, ...] each. restored: states restored so far; equal: how many were as saved.
    """

    def __init__(self, by_slot: Mapping[str, Tensor]):
        self._by_slot = by_slot
        self._saved: dict[int, bytes] = {}
        self.restored = 0
        self.equal = 0

    def before(self, plan: PassPlan) -> None:
        """The pass is about to read what it restores."""
        for segment in plan.segments:
            if segment.replay is not None and segment.start == segment.replay.start:
                self.restored += 1
                self.equal += self._saved.get(segment.state) == self._hash(segment.state)

    def after(self, plan: PassPlan) -> None:
        """The pass has saved what it names."""
        for segment in plan.segments:
            for write in segment.writes:
                self._saved[write.slot] = self._hash(write.slot)

    def _hash(self, slot: int) -> bytes:
        digest = hashlib.sha256()
        for _, tensor in sorted(self._by_slot.items()):
            digest.update(tensor[slot].contiguous().view(-1).view(torch.uint8).cpu().numpy().tobytes())
        return digest.digest()
