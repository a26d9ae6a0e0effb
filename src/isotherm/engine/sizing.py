"""What a checkpoint needs of a GPU's memory, and how many conversations and snapshots that leaves room for."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import torch

from isotherm.core.config import CacheConfig
from isotherm.core.constants import BLOCK, blocks_for
from isotherm.core.errors import ConfigError
from isotherm.engine.device import pass_bytes
from isotherm.kernels.api import Kernels
from isotherm.kernels.torch_provider import TorchKernels
from isotherm.model.hf_config import read_spec
from isotherm.model.load import context_length
from isotherm.model.spec import ModelSpec
from isotherm.model.state import allocate
from isotherm.model.weights import WeightBytes, weight_bytes
from isotherm.runner.capacity import Capacity, Floor, host_capacity, plan_capacity
from isotherm.scheduler.limits import minimum_blocks, minimum_slots


@dataclass(frozen=True, slots=True)
class Asked:
    """memory: bytes of the GPU, of which `utilization` may be used. context: tokens, of each of `conversations` at once.

    offload_bytes: of the host, for what is evicted.
    """

    memory: int
    context: int
    conversations: int
    utilization: float = 0.9
    rows: int = 2048
    drafter: bool = False
    offload_bytes: int = 0

    @property
    def blocks_each(self) -> int:
        """Blocks of one conversation at full length."""
        return blocks_for(self.context)

    @property
    def floor(self) -> Floor:
        """The least that the scheduler works with."""
        return Floor(minimum_blocks(self.context), minimum_slots(self.conversations))


@dataclass(frozen=True, slots=True)
class Sizing:
    """Bytes of each part. lane: of a live conversation beside its blocks and its states. budget: for blocks and states.

    capacity: blocks and slots as the engine would divide the budget, None when the least that it needs does not fit. longest: the
    most tokens, whole blocks, with which all conversations would fit at once; 0 for none. host_blocks, host_slots: of a host.
    """

    spec: ModelSpec
    asked: Asked
    weights: WeightBytes
    passes: int
    block: int
    slot: int
    lane: int
    budget: int
    capacity: Capacity | None
    longest: int
    host_blocks: int = 0
    host_slots: int = 0

    @property
    def fit(self) -> int:
        """Conversations of full length that the blocks hold at once, were nothing shared; more take turns."""
        return 0 if self.capacity is None else (self.capacity.blocks - 1) // self.asked.blocks_each

    @property
    def snapshots(self) -> int:
        """States left for snapshots while all conversations run: each holds one, and a second while it crosses a boundary."""
        return 0 if self.capacity is None else max(0, self.capacity.slots - 1 - 2 * self.asked.conversations)

    @property
    def enough(self) -> int:
        """Bytes of GPU memory with which all conversations fit at full length, divided as the engine divides."""
        asked, floor = self.asked, self.asked.floor
        blocks = max(0, asked.conversations * asked.blocks_each - floor.blocks) * self.block
        slots = max(0, 2 * asked.conversations - floor.slots) * self.slot
        state = (floor.blocks + 1) * self.block + (floor.slots + 1) * self.slot + 2 * max(blocks, slots)
        return int((state + self._beside) / asked.utilization) + 1

    @property
    def _beside(self) -> int:
        held = self.weights.model + (self.weights.drafter if self.asked.drafter else 0)
        return held + self.passes + self.asked.conversations * self.lane


def size(folder: Path, asked: Asked, dtype: torch.dtype = torch.bfloat16) -> Sizing:
    """Nothing is loaded: config.json and the headers of the weights are read.

    Raises CheckpointError, and ConfigError for a context beyond the checkpoint's.
    """
    spec = read_spec(folder)
    context_length(spec, asked.context)
    if asked.conversations < 1 or not 0 < asked.utilization <= 1:
        raise ConfigError("conversations", f"must be at least 1, got {asked.conversations}")
    kernels = cast(Kernels, TorchKernels(dtype, 1))  # its stores have no padding, as the GPU's have none
    weights, passes = weight_bytes(folder, spec, dtype), pass_bytes(spec, asked.rows)
    one = allocate(spec, kernels, 1, 1, 1, asked.drafter)
    block, slot, lane = (
        sum(tensor.nbytes for tensor in tensors.values()) for tensors in (one.by_block(), one.by_slot(), one.by_lane())
    )
    held = weights.model + (weights.drafter if asked.drafter else 0) + passes + asked.conversations * lane
    budget = int(asked.memory * asked.utilization) - held - block - slot
    capacity, longest = _divided(spec, kernels, asked, budget), _longest(spec, kernels, asked, budget)
    host = host_capacity(asked.offload_bytes, block, slot, asked.offload_bytes)
    return Sizing(spec, asked, weights, passes, block, slot, lane, budget, capacity, longest, *host)


def _longest(spec: ModelSpec, kernels: Kernels, asked: Asked, budget: int) -> int:
    """By bisection: a shorter context also needs less at least, which leaves another division."""
    fits, beyond = 0, asked.blocks_each + 1
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        capacity = _divided(spec, kernels, replace(asked, context=middle * BLOCK), budget)
        if capacity is not None and capacity.blocks - 1 >= middle * asked.conversations:
            fits = middle
        else:
            beyond = middle
    return min(fits * BLOCK, asked.context)


def _divided(spec: ModelSpec, kernels: Kernels, asked: Asked, budget: int) -> Capacity | None:
    if budget < 1:
        return None
    try:
        return plan_capacity(
            spec, kernels, CacheConfig(memory_bytes=budget), asked.conversations, asked.floor, 0, asked.drafter
        )
    except ConfigError:
        return None
