"""The parts that differ with `numerics`: kernels, layout, cache and runner, put together here and nowhere else."""

from pathlib import Path
from typing import cast

from isotherm.cache import PrefixCache
from isotherm.core.config import EngineConfig
from isotherm.core.layout import Layout
from isotherm.core.plan import PassPlan, PassResult
from isotherm.kernels.api import Kernels
from isotherm.kernels.load import load_kernels
from isotherm.model.decoder import Decoder
from isotherm.model.mtp import load_mtp
from isotherm.native.checksums import Checksums
from isotherm.native.kernels import native_kernels
from isotherm.native.layout import NativeLayout
from isotherm.native.prefix import NativePrefixCache
from isotherm.runner.capacity import Capacity
from isotherm.runner.drafter import Drafter
from isotherm.runner.runner import Runner
from isotherm.runner.watch import PassWatch


class CheckedRunner(Runner):
    """A runner that hashes states as they are saved and looks at them again as they are restored."""

    def __init__(self, decoder: Decoder, capacity: Capacity):
        super().__init__(decoder, capacity)
        self.checksums = Checksums(self.state.by_slot())

    def run(self, plan: PassPlan, watch: PassWatch | None = None) -> PassResult:
        """See Runner.run."""
        self.checksums.before(plan)
        result = super().run(plan, watch)
        self.checksums.after(plan)
        return result


def kernels_for(config: EngineConfig) -> Kernels:
    """The kernel set."""
    if config.numerics == "native":
        return cast(Kernels, native_kernels(config.native, config.model.threads))
    return load_kernels(config.model.kernels, config.model.dtype, config.model.threads)


def runner_for(config: EngineConfig, folder: Path, decoder: Decoder, capacity: Capacity) -> Runner:
    """What runs passes. Raises CheckpointError when a drafter is asked for and the checkpoint has none."""
    if config.numerics == "native":
        return CheckedRunner(decoder, capacity)
    if config.has_drafter:
        return Runner(decoder, capacity, Drafter(load_mtp(folder, decoder), decoder))
    return Runner(decoder, capacity)


def cache_for(config: EngineConfig, blocks: int, slots: int) -> tuple[PrefixCache, Layout]:
    """The prefix cache and the layout that it and the scheduler follow."""
    caching, interval = config.cache.enable_prefix_caching, config.cache.snapshot_interval
    if config.numerics == "native":
        layout = NativeLayout(interval, config.native)
        return NativePrefixCache(layout, blocks, slots, enabled=caching), layout
    return PrefixCache(blocks, slots, enabled=caching), Layout(interval)
