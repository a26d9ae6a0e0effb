"""The engine: schedule, run, complete."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from isotherm.core.config import CacheConfig, EngineConfig
from isotherm.core.errors import RequestError
from isotherm.core.plan import PassPlan, PassResult
from isotherm.core.request import Output, Request
from isotherm.core.stats import EngineInfo, EngineStats
from isotherm.core.vocabulary import Vocabulary
from isotherm.engine.device import with_budget
from isotherm.engine.fingerprint import build_fingerprint, weights_hash
from isotherm.engine.memory import available_memory, resident_memory
from isotherm.engine.native_runner import NativeRunner
from isotherm.engine.numerics import drafter_shares_blocks, kernels_for, parts_for
from isotherm.engine.tracing import Tracer
from isotherm.model.hf_config import read_spec
from isotherm.model.load import context_length, load_decoder
from isotherm.runner.capacity import Capacity, Floor, plan_capacity
from isotherm.scheduler.limits import minimum_blocks, minimum_slots
from isotherm.scheduler.scheduler import Scheduler

log = logging.getLogger("isotherm")


class Engine:
    """One model on this machine. Not thread-safe: one thread adds, steps and cancels.

    Raises ConfigError or CheckpointError when the model or a setting cannot be honoured.
    """

    def __init__(self, config: EngineConfig, folder: Path, vocabulary: Vocabulary):
        spec = read_spec(folder)
        kernels = kernels_for(config, spec)
        max_model_len = context_length(spec, config.model.max_model_len)
        limits = config.scheduler
        floor = Floor(minimum_blocks(max_model_len), minimum_slots(limits.max_num_seqs))
        shared = drafter_shares_blocks(config)

        def sized(cache: CacheConfig) -> Capacity:
            return plan_capacity(spec, kernels, cache, limits.max_num_seqs, floor, available_memory(), shared)

        capacity = sized(config.cache) if kernels.device.type == "cpu" else None
        if config.cache.offload_bytes and not config.cache.enable_prefix_caching:
            log.warning("kv_offloading_size: without prefix caching nothing is evicted, and no memory is taken for it")
        elif capacity is not None and capacity.host_slots:
            log.warning("kv_offloading_size: on the CPU both tiers are the same memory; a larger cache serves better")
        with ThreadPoolExecutor(1) as pool:
            hashing = pool.submit(weights_hash, folder)
            decoder = load_decoder(folder, kernels, max_model_len)
            if capacity is None:  # a GPU's memory is what the weights leave
                capacity = sized(with_budget(config.cache, decoder, limits.max_num_batched_tokens, config.has_drafter))
            parts = parts_for(config, folder, decoder, capacity)
            weights = hashing.result()
        self.runner, self.cache, layout = parts.runner, parts.cache, parts.layout
        self.scheduler = Scheduler(limits, self.cache, layout, vocabulary, max_model_len, config.speculative)
        self.info = EngineInfo(
            max_model_len=max_model_len,
            vocab_size=spec.vocab_size,
            blocks=capacity.blocks - 1,
            slots=capacity.slots - 1,
            snapshot_interval=layout.snapshot_interval,
            prefix_caching=self.cache.enabled,
            build=build_fingerprint(kernels, weights),
            numerics=config.numerics,
            host_blocks=capacity.host_blocks,
            host_slots=capacity.host_slots,
        )
        self._block_bytes, self._slot_bytes = capacity.block_bytes, capacity.slot_bytes
        self.tracer = Tracer(Path(config.trace), self.runner, self.info.build) if config.trace else None

    def add(self, request: Request) -> None:
        """Queue a request. Raises RequestError or QueueFullError."""
        self._check_ids(request)
        number = self.scheduler.add(request)
        if self.tracer is not None:
            self.tracer.follow(number, request)

    def _check_ids(self, request: Request) -> None:
        """Every token id that a request names must be one the model has."""
        size, sampling = self.info.vocab_size, request.sampling
        biased = [token for token, _ in sampling.logit_bias]
        named = (("prompt", request.prompt), ("stop_token_ids", sampling.stop_token_ids), ("logit_bias", biased))
        for param, ids in named:
            if ids and not (min(ids) >= 0 and max(ids) < size):
                raise RequestError(param, f"token ids must be from 0 to {size - 1}, got {min(ids)} to {max(ids)}")

    def cancel(self, request_id: str) -> None:
        """End a request, if it is still there."""
        self.scheduler.cancel(request_id)

    @property
    def has_work(self) -> bool:
        """Whether a step would do anything."""
        return self.scheduler.has_work

    def step(self, meanwhile: Callable[[], None] = lambda: None) -> list[Output]:
        """One pass: plan it, carry what it moves, run it, apply it."""
        plan, tracer = self.scheduler.schedule(), self.tracer
        if plan is None or tracer is not None:
            meanwhile()
        if plan is None:
            outputs = self.scheduler.idle()
        else:
            self.runner.carry(plan)
            outputs = self.scheduler.complete(plan, self._run(plan, meanwhile))
        if tracer is not None:
            tracer.note(outputs)
        return outputs

    def _run(self, plan: PassPlan, meanwhile: Callable[[], None]) -> PassResult:
        return self.runner.run(plan, meanwhile=meanwhile) if self.tracer is None else self.tracer.run(plan)

    def stats(self) -> EngineStats:
        """Gauges and counters."""
        stats = self.scheduler.stats()
        held = stats.host.blocks_used * self._block_bytes + stats.host.slots_used * self._slot_bytes
        stats = replace(stats, resident_bytes=resident_memory(), host=replace(stats.host, bytes_used=held))
        if isinstance(self.runner, NativeRunner):
            checksums = self.runner.checksums
            return replace(stats, states_restored=checksums.restored, states_restored_equal=checksums.equal)
        return stats
