"""The engine under test: scheduler, cache and runner put together around a model that is loaded once."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from isotherm.cache.observer import Kind
from isotherm.core.config import CacheConfig, DType, Provider, SchedulerConfig, SpeculativeConfig
from isotherm.core.layout import Layout
from isotherm.core.plan import HostCopies
from isotherm.core.request import Output, Request
from isotherm.core.vocabulary import Vocabulary
from isotherm.engine.device import check_supported
from isotherm.engine.numerics import cache_for
from isotherm.fuzz.script import Setting
from isotherm.fuzz.states import digest, poison
from isotherm.kernels.load import load_kernels, with_threads
from isotherm.model.decoder import Decoder
from isotherm.model.hf_config import read_spec
from isotherm.model.load import load_decoder
from isotherm.model.mtp import AnyMtp, has_mtp, load_mtp
from isotherm.model.state import ModelState
from isotherm.runner.capacity import Capacity, Floor, plan_capacity
from isotherm.runner.drafter import Drafter
from isotherm.runner.host import HostPool
from isotherm.runner.runner import Runner
from isotherm.scheduler.limits import minimum_blocks, minimum_slots
from isotherm.scheduler.scheduler import Scheduler
from isotherm.text.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Model:
    """A loaded checkpoint. longest: the most tokens a sequence may have here; small, so that pools can be. mtp: its drafter."""

    name: str
    decoder: Decoder
    vocabulary: Vocabulary
    longest: int
    mtp: AnyMtp | None = None

    def drafter(self, setting: Setting) -> Drafter | None:
        """What guesses with this setting, None when nothing of the checkpoint's does."""
        if self.mtp is None or not setting.drafts or setting.method != "mtp":
            return None
        return Drafter(self.mtp, self.decoder)


def open_model(name: str, folder: Path, longest: int, kernels: Provider, dtype: DType) -> Model:
    """Raises ConfigError or CheckpointError."""
    check_supported(kernels, read_spec(folder))
    decoder = load_decoder(folder, load_kernels(kernels, dtype, 1), longest)
    mtp = load_mtp(folder, decoder) if has_mtp(folder) else None
    return Model(name, decoder, Tokenizer.load(folder).vocabulary, longest, mtp)


@dataclass(slots=True)
class Audit:
    """Hears of what the cache frees and of what it holds twice. wrong: what was not as it should be.

    host: the host tier's memory. What is freed of the device's may still have to be copied there first.
    """

    state: ModelState
    host: HostPool | None = None
    compared: int = 0
    wrong: list[str] = field(default_factory=list)
    _freed: list[tuple[Kind, int]] = field(default_factory=list)

    def duplicate(self, kind: Kind, kept: int, duplicate: int) -> None:
        """Two computations of one thing: every byte must be the same."""
        if kind not in ("block", "slot"):
            self.wrong.append(f"there are two copies of one {kind}")
            return
        for name, tensor in self._tensors(kind).items():
            self.compared += 1
            if digest(tensor[kept]) != digest(tensor[duplicate]):
                self.wrong.append(f"two copies of one {kind} differ in {name}")

    def freed(self, kind: Kind, identity: int) -> None:
        """Nobody may read it any more: NaN, so that it shows."""
        if self.host is not None and kind in ("host block", "host slot"):
            (self.host.blocks if kind == "host block" else self.host.slots).poison(identity)
            return
        self._freed.append((kind, identity))
        if self.host is None:
            self.copied_out()

    def copied_out(self) -> None:
        """What was freed of the device's memory has been copied to the host, if it was to be."""
        freed, self._freed = self._freed, []
        for kind, identity in freed:
            for tensor in self._tensors(kind).values():
                tensor[identity] = float("nan")

    def _tensors(self, kind: Kind) -> dict[str, torch.Tensor]:
        return self.state.by_block() if kind == "block" else self.state.by_slot()


class AuditedPool(HostPool):
    """A host tier whose copies out end the life of what was freed."""

    audit: Audit

    def take(self, copies: HostCopies) -> None:
        """See HostPool."""
        super().take(copies)
        self.audit.copied_out()


def audited(runner: Runner, capacity: Capacity) -> Audit:
    """Make all of the runner's memory NaN, and hear of what becomes free in it."""
    poison(runner.state)
    audit = Audit(runner.state)
    if runner.host is not None:
        audit.host = runner.host = pool = AuditedPool(runner.state, capacity.host_blocks, capacity.host_slots)
        pool.audit = audit
        for shelf, count in ((pool.blocks, capacity.host_blocks), (pool.slots, capacity.host_slots)):
            for identity in range(1, count + 1):
                shelf.poison(identity)
    return audit


class Subject:
    """A fresh engine whose memory is NaN until it is written and again once it is freed."""

    def __init__(self, model: Model, setting: Setting):
        self.model = model
        kernels = with_threads(model.decoder.kernels, setting.threads)
        decoder = replace(model.decoder, kernels=kernels)
        limits = SchedulerConfig(setting.seqs, setting.budget, max_waiting=1 << 20)
        floor = Floor(minimum_blocks(model.longest), 2)
        config = CacheConfig(
            setting.caching,
            blocks=floor.blocks + setting.spare_blocks,
            slots=max(2, min(setting.slots, 4 * minimum_slots(setting.seqs))),
        )
        drafter = model.drafter(setting)
        capacity = plan_capacity(decoder.spec, kernels, config, setting.seqs, floor, 0, drafter is not None)
        if setting.caching and setting.host_blocks and setting.host_slots:
            capacity = replace(capacity, host_blocks=setting.host_blocks, host_slots=setting.host_slots)
        self.runner = Runner(decoder, capacity, drafter)
        self.audit = audited(self.runner, capacity)
        self.cache = cache_for(capacity, setting.caching, self.audit)
        guesses = setting.drafts > 0 and (drafter is not None or setting.method == "ngram")
        self._most = setting.drafts if guesses else 0
        speculative = SpeculativeConfig(setting.method, setting.drafts, setting.adaptive) if guesses else None
        self.scheduler = Scheduler(
            limits, self.cache, Layout(setting.snapshot_interval), model.vocabulary, model.longest, speculative
        )

    def add(self, request: Request) -> None:
        """Queue a request, which wants no more guesses than there are here."""
        wanted = request.num_speculative_tokens
        self.scheduler.add(replace(request, num_speculative_tokens=None if wanted is None else min(wanted, self._most)))

    def cancel(self, request_id: str) -> None:
        """End a request, if it is still there."""
        self.scheduler.cancel(request_id)

    @property
    def has_work(self) -> bool:
        """Whether a step would do anything."""
        return self.scheduler.has_work

    def step(self) -> list[Output]:
        """One pass, and every invariant of scheduler and cache checked before and after it. Raises AssertionError."""
        plan = self.scheduler.schedule()
        self.scheduler.check()
        if plan is None:
            outputs = self.scheduler.idle()
        else:
            self.runner.carry(plan)
            outputs = self.scheduler.complete(plan, self.runner.run(plan))
        self.scheduler.check()
        return outputs
