"""How many blocks and slots fit in a budget of bytes."""

from dataclasses import dataclass

from isotherm.core.config import CacheConfig
from isotherm.core.errors import ConfigError
from isotherm.kernels.api import Kernels
from isotherm.model.spec import ModelSpec
from isotherm.model.state import allocate

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Capacity:
    """Sizes of the state store. blocks and slots count the reserved id 0; lanes is the most live sequences.

    host_blocks, host_slots: of the host tier, 0 without one; they count no id 0, which takes no memory there.
    """

    blocks: int
    slots: int
    lanes: int
    block_bytes: int
    slot_bytes: int
    host_blocks: int = 0
    host_slots: int = 0


@dataclass(frozen=True, slots=True)
class Floor:
    """The least that the scheduler can work with; one more of each is reserved as id 0."""

    blocks: int
    slots: int


def plan_capacity(
    spec: ModelSpec,
    kernels: Kernels,
    config: CacheConfig,
    lanes: int,
    floor: Floor,
    available_bytes: int,
    drafter: bool = False,
) -> Capacity:
    """Explicit counts as asked; what is left of the budget goes half to blocks, half to slots, above the floor.

    The default budget is a quarter of `available_bytes`, at most 4 GiB. Raises ConfigError when the floor does not fit, or a host
    tier of one block and one state, or not the host tier.
    """
    block_bytes, slot_bytes = _sizes(spec, kernels, drafter)
    budget = config.memory_bytes or min(available_bytes // 4, 4 << 30)
    least = floor.blocks * block_bytes + floor.slots * slot_bytes
    spare = budget - least
    if spare < 0 and not (config.blocks and config.slots):
        raise ConfigError(
            "kv_cache_memory_bytes",
            f"{budget} is too little: max_model_len and max_num_seqs need at least {least} "
            f"({floor.blocks} blocks of {block_bytes} and {floor.slots} state slots of {slot_bytes} bytes)",
        )
    blocks = config.blocks or floor.blocks + max(spare, 0) // 2 // max(block_bytes, 1)
    slots = config.slots or floor.slots + max(spare, 0) // 2 // max(slot_bytes, 1)
    for name, count, minimum in (("blocks", blocks, floor.blocks), ("slots", slots, floor.slots)):
        if count < minimum:
            raise ConfigError(name, f"must be at least {minimum} for these limits, got {count}")
    offload = config.offload_bytes if config.enable_prefix_caching else 0
    host = host_capacity(offload, block_bytes, slot_bytes, available_bytes)
    return Capacity(blocks + 1, slots + 1, lanes, block_bytes, slot_bytes, *host)


def host_capacity(offload_bytes: int, block_bytes: int, slot_bytes: int, available_bytes: int) -> tuple[int, int]:
    """Blocks and slots of a host tier of so many bytes, half each. Raises ConfigError when none or not all of it fits."""
    if not offload_bytes:
        return 0, 0
    least = 2 * max(block_bytes, slot_bytes)
    if offload_bytes < least:
        raise ConfigError(
            "kv_offloading_size",
            f"{offload_bytes / GIB:.3g} GiB is too little: half of it holds KV blocks, the other half states, and one of "
            f"each takes {least / GIB:.3g} GiB",
        )
    if offload_bytes > available_bytes:
        raise ConfigError(
            "kv_offloading_size",
            f"{offload_bytes / GIB:.3g} GiB is more than the {available_bytes / GIB:.3g} GiB of memory that are free",
        )
    half = offload_bytes // 2
    return half // max(block_bytes, 1), half // max(slot_bytes, 1)


def _sizes(spec: ModelSpec, kernels: Kernels, drafter: bool) -> tuple[int, int]:
    one = allocate(spec, kernels, 1, 1, 1, drafter)
    return sum(t.nbytes for t in one.by_block().values()), sum(t.nbytes for t in one.by_slot().values())
