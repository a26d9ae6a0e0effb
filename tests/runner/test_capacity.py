"""How memory is divided, and what is said when it is too little."""

from pathlib import Path

import pytest

from isotherm.core.config import CacheConfig
from isotherm.core.errors import ConfigError
from isotherm.kernels.load import load_kernels
from isotherm.model.hf_config import read_spec
from isotherm.runner.capacity import Capacity, Floor, plan_capacity


def plan(folder: Path, available: int = 8 << 30, **fields: int) -> Capacity:
    kernels = load_kernels("c", "float32", 1)
    return plan_capacity(read_spec(folder), kernels, CacheConfig(**fields), 4, Floor(8, 5), available)


def test_a_budget_is_kept_and_used(checkpoints) -> None:
    capacity = plan(checkpoints["qwen3_5"], memory_bytes=64 << 20)
    used = (capacity.blocks - 1) * capacity.block_bytes + (capacity.slots - 1) * capacity.slot_bytes
    assert (64 << 20) - capacity.block_bytes - capacity.slot_bytes <= used <= 64 << 20


def test_the_default_is_a_quarter_of_what_is_free_up_to_4_gib(checkpoints) -> None:
    small, large = plan(checkpoints["qwen3_5"], available=1 << 30), plan(checkpoints["qwen3_5"], available=1 << 40)
    assert small.blocks * small.block_bytes <= 1 << 28
    assert 3.9 * (1 << 30) < large.blocks * large.block_bytes + large.slots * large.slot_bytes < 4.1 * (1 << 30)


def test_counts_are_taken_as_given(checkpoints) -> None:
    capacity = plan(checkpoints["qwen3_5"], blocks=9, slots=6)
    assert (capacity.blocks, capacity.slots) == (10, 7)


def test_too_little_memory_says_how_much_is_needed(checkpoints) -> None:
    with pytest.raises(ConfigError, match=r"kv_cache_memory_bytes: 1000 is too little.*need at least \d+"):
        plan(checkpoints["qwen3_5"], memory_bytes=1000)


def test_a_count_below_the_floor_is_named(checkpoints) -> None:
    with pytest.raises(ConfigError, match="slots: must be at least 5"):
        plan(checkpoints["qwen3_5"], blocks=9, slots=4)


def test_a_host_tier_is_divided_in_halves_and_bounded(checkpoints) -> None:
    capacity = plan(checkpoints["qwen3_5"], offload_bytes=32 << 20)
    blocks, slots = capacity.host_blocks * capacity.block_bytes, capacity.host_slots * capacity.slot_bytes
    assert (16 << 20) - capacity.block_bytes < blocks <= 16 << 20
    assert (16 << 20) - capacity.slot_bytes < slots <= 16 << 20
    without = (
        plan(checkpoints["qwen3_5"]),
        plan(checkpoints["qwen3_5"], offload_bytes=32 << 20, enable_prefix_caching=False),
    )
    assert all(each.host_blocks == each.host_slots == 0 for each in without)


@pytest.mark.parametrize(("size", "why"), [(1000, "too little: half of it"), (9 << 30, "more than the 8 GiB")])
def test_a_host_tier_that_is_too_small_or_too_large_is_named(checkpoints, size: int, why: str) -> None:
    with pytest.raises(ConfigError, match=f"kv_offloading_size: .*{why}"):
        plan(checkpoints["qwen3_5"], offload_bytes=size)
