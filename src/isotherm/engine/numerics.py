"""The parts that differ with `numerics`: kernels, layout, cache and runner, put together here and nowhere else."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from isotherm.cache import Observer, PrefixCache, TieredPrefixCache
from isotherm.core.config import EngineConfig
from isotherm.core.layout import Layout
from isotherm.engine.device import provider_for
from isotherm.engine.native_runner import NativeRunner
from isotherm.kernels.api import Kernels
from isotherm.kernels.load import load_kernels
from isotherm.model.decoder import Decoder
from isotherm.model.mtp import load_mtp
from isotherm.model.spec import ModelSpec
from isotherm.native.kernels import native_kernels
from isotherm.native.layout import NativeLayout
from isotherm.native.prefix import NativePrefixCache
from isotherm.runner.capacity import Capacity
from isotherm.runner.drafter import Drafter
from isotherm.runner.runner import Runner


@dataclass(frozen=True, slots=True)
class Parts:
    """What runs passes, the prefix cache, and the layout that the cache and the scheduler follow."""

    runner: Runner
    cache: PrefixCache
    layout: Layout


def kernels_for(config: EngineConfig, spec: ModelSpec) -> Kernels:
    """The kernel set. Raises ConfigError when the device that was asked for cannot run the model."""
    provider = provider_for(config, spec)
    if config.numerics == "native":
        return cast(Kernels, native_kernels(config.native, config.model.threads, config.most_drafts))
    return load_kernels(provider, config.model.dtype, config.model.threads)


def drafter_shares_blocks(config: EngineConfig) -> bool:
    """Whether there is a drafter whose keys and values lie in the model's blocks, and so in the prefix cache."""
    return config.has_drafter and config.numerics == "exact"


def parts_for(config: EngineConfig, folder: Path, decoder: Decoder, capacity: Capacity) -> Parts:
    """Runner, cache and layout. Raises CheckpointError when a drafter is asked for and the checkpoint has none."""
    caching, interval = config.cache.enable_prefix_caching, config.cache.snapshot_interval
    blocks, slots = capacity.blocks - 1, capacity.slots - 1
    mtp = load_mtp(folder, decoder) if config.has_drafter else None
    if config.numerics == "native":
        runner, layout = NativeRunner(decoder, capacity, config, mtp), NativeLayout(interval, config.native)
        cache = NativePrefixCache(layout, blocks, slots, enabled=caching, anchor=runner.anchor)
        return Parts(runner, cache, layout)
    drafter = None if mtp is None else Drafter(mtp, decoder)
    return Parts(
        Runner(decoder, capacity, drafter, record=not config.model.enforce_eager),
        cache_for(capacity, caching),
        Layout(interval),
    )


def cache_for(capacity: Capacity, enabled: bool, observer: Observer | None = None) -> PrefixCache:
    """The prefix cache of exact numerics, with a host tier where there is memory for one."""
    blocks, slots = capacity.blocks - 1, capacity.slots - 1
    if not capacity.host_slots:
        return PrefixCache(blocks, slots, enabled=enabled, observer=observer)
    host = capacity.host_blocks, capacity.host_slots
    return TieredPrefixCache(blocks, slots, *host, enabled=enabled, observer=observer)
