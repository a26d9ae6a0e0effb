"""How far the rows of a batch reach, which sizes the memory that scores take on the GPU."""

from dataclasses import dataclass

from isotherm.core.constants import BLOCK
from isotherm.kernels.batch import Batch
from isotherm.kernels.gpu.batch import DeviceBatch


@dataclass(frozen=True, slots=True)
class Reach:
    """blocks: at least as many as the furthest row has behind it, its own with them."""

    blocks: int


def reach(batch: DeviceBatch) -> int:
    """Blocks."""
    return batch.plan(REACH, _reach).blocks


REACH = "reach"
"""The plan's key; a recorded pass brings one."""


def _reach(host: Batch) -> Reach:
    return Reach(int(host.positions.max()) // BLOCK + 1 if host.rows else 1)
