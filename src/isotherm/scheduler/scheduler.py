"""The scheduler: which tokens of which sequences the next pass computes. Pure planning, one pass in flight at a time."""

from dataclasses import replace

from isotherm.cache import PrefixCache
from isotherm.core.config import SchedulerConfig, SpeculativeConfig
from isotherm.core.errors import ConfigError, QueueFullError, RequestError
from isotherm.core.layout import Layout
from isotherm.core.plan import PassPlan, PassResult
from isotherm.core.request import Output, Request
from isotherm.core.stats import EngineStats
from isotherm.core.vocabulary import Vocabulary
from isotherm.scheduler.admission import Admission
from isotherm.scheduler.completion import Completion
from isotherm.scheduler.counters import Counters
from isotherm.scheduler.guesses import Guesses
from isotherm.scheduler.limits import minimum_blocks
from isotherm.scheduler.passes import PassDraft
from isotherm.scheduler.roster import Roster
from isotherm.scheduler.sequence import Sequence
from isotherm.scheduler.stop import Ending


class Scheduler:
    """add, then repeat: plan = schedule(); outputs = complete(plan, result of running it); or idle() when there is no plan.

    What it does is a function of the calls made, never of time. It runs with fewer slots than `minimum_slots` asks for, down
    to two, by running fewer sequences at once.
    """

    def __init__(
        self,
        config: SchedulerConfig,
        cache: PrefixCache,
        layout: Layout,
        vocabulary: Vocabulary,
        max_model_len: int,
        speculative: SpeculativeConfig | None = None,
    ):
        if cache.blocks.capacity < minimum_blocks(max_model_len):
            raise ConfigError("blocks", f"max_model_len={max_model_len} needs {minimum_blocks(max_model_len)}")
        if cache.slots.capacity < 2:
            raise ConfigError("slots", f"at least 2 are needed, got {cache.slots.capacity}")
        self._config = config
        self._cache = cache
        self._vocabulary = vocabulary
        self._max_model_len = max_model_len
        self._counters = Counters()
        self._roster = Roster(min(config.max_num_seqs, cache.slots.capacity - 1))
        self._admission = Admission(cache, layout, self._roster, self._counters)
        self._layout = layout
        self._guesses = Guesses(speculative, max_model_len)
        self._completion = Completion(cache, layout, self._roster, self._counters, max_model_len)
        self._sequences: dict[str, Sequence] = {}
        self._arrivals = 0
        self._in_flight: PassPlan | None = None
        self._pending: list[Output] = []

    @property
    def has_work(self) -> bool:
        """Whether there is a request to serve or an output to hand out."""
        return bool(self._sequences or self._pending)

    def add(self, request: Request) -> int:
        """Queue a request; its number, as plans name it.

        Raises RequestError when it can never be served, QueueFullError when too many wait.
        """
        tokens, limit = len(request.prompt), self._max_model_len
        if request.id in self._sequences:
            raise RequestError("request_id", f"{request.id!r} is being served already")
        if not tokens:
            raise RequestError("prompt", "has no tokens")
        if tokens >= limit:
            raise RequestError("prompt", f"has {tokens} tokens; with max_model_len={limit} the most is {limit - 1}")
        self._guesses.check(request)
        if len(self._roster.waiting) >= self._config.max_waiting:
            raise QueueFullError(f"{self._config.max_waiting} requests are waiting")
        sequence = Sequence(self._arrivals, request, self._vocabulary)
        self._arrivals += 1
        self._sequences[request.id] = sequence
        self._roster.wait(sequence)
        return sequence.number

    def cancel(self, request_id: str) -> None:
        """End a request, if it is there. While a pass that computes it is in flight, it ends when that has completed."""
        sequence = self._sequences.get(request_id)
        if sequence is None or sequence.cancelled:
            return
        sequence.cancelled = True
        if not sequence.is_running:
            self._roster.waiting.remove(sequence)
            self._hand_out(sequence, sequence.output(ending=Ending("abort")))
        elif not self._is_in_flight(sequence):
            self._hand_out(sequence, self._completion.abort(sequence))

    def schedule(self) -> PassPlan | None:
        """The next pass: running sequences that generate, then running prefills, then new ones. None when nothing can run."""
        if self._in_flight is not None:
            raise RuntimeError("the last pass has not been completed")
        budget = self._config.max_num_batched_tokens
        draft = PassDraft(budget, self._cache, self._roster, self._counters, self._layout, self._guesses)
        running = list(self._roster.running)
        prefills = [sequence for sequence in running if sequence.remaining > 1]
        generating = [sequence for sequence in running if sequence.remaining == 1]
        for place, sequence in enumerate(generating):
            draft.extend(sequence, others=len(generating) - place - 1)
        for sequence in prefills:
            draft.extend(sequence)
        self._admission.admit(draft)
        self._in_flight = draft.finish()
        if self._in_flight is None and (self._roster.running or self._roster.waiting):
            raise RuntimeError("sequences are there and none can go on")
        return self._in_flight

    def complete(self, plan: PassPlan, result: PassResult) -> list[Output]:
        """Apply the results of the pass in flight: publish what it wrote, add tokens, retire what has ended."""
        if plan is not self._in_flight:
            raise RuntimeError("not the pass in flight")
        self._in_flight = None
        self._cache.moved()
        self._counters.passes += 1
        by_number = {sequence.number: sequence for sequence in self._roster.running}
        drafts = result.drafts or ((),) * len(plan.segments)
        for segment, results, guesses in zip(plan.segments, result.rows, drafts, strict=True):
            sequence = by_number[segment.sequence]
            for output in self._completion.apply(sequence, segment, results, guesses):
                self._hand_out(sequence, output)
        return self.idle()

    def idle(self) -> list[Output]:
        """Outputs that needed no pass: of requests cancelled while they waited."""
        pending, self._pending = self._pending, []
        return pending

    def stats(self) -> EngineStats:
        """Gauges and counters of scheduler and cache."""
        counters = self._counters
        return EngineStats(
            running=len(self._roster.running),
            waiting=len(self._roster.waiting),
            blocks_used=self._cache.blocks.used,
            slots_used=self._cache.slots.used,
            cache_queries=counters.cache_queries,
            cache_hits=counters.cache_hits,
            matched=counters.matched,
            restored=counters.restored,
            declined=dict(counters.declined),
            preemptions=counters.preemptions,
            prompt_tokens=counters.prompt_tokens,
            generation_tokens=counters.generation_tokens,
            evicted_blocks=self._cache.evicted_blocks,
            evicted_snapshots=self._cache.evicted_snapshots,
            passes=counters.passes,
            skipped_snapshots=counters.skipped_snapshots,
            drafts=counters.drafts,
            drafted_tokens=counters.drafted_tokens,
            accepted_by_position=tuple(counters.accepted),
            host=replace(self._cache.host_stats(), hits=counters.host_hits, hit_tokens=counters.host_hit_tokens),
        )

    def check(self) -> None:
        """Assert every invariant of scheduler and cache; for tests, after each step. Writes in flight are held too."""
        running, plan = self._roster.running, self._in_flight
        written = [write.slot for segment in plan.segments for write in segment.writes] if plan else []
        blocks = [block for sequence in running for block in sequence.blocks]
        blocks += [sequence.borrowed for sequence in running if sequence.borrowed]
        blocks += [block for sequence in running for block in sequence.shadowed]
        self._cache.check(blocks, [sequence.slot for sequence in running if sequence.slot] + written)
        lanes = [sequence.lane for sequence in running]
        assert len(set(lanes)) == len(lanes) and all(lane >= 0 for lane in lanes), "two sequences share a lane"
        assert all(not sequence.blocks and not sequence.slot for sequence in self._roster.waiting), (
            "a waiting one holds"
        )

    def _is_in_flight(self, sequence: Sequence) -> bool:
        plan = self._in_flight
        return plan is not None and any(segment.sequence == sequence.number for segment in plan.segments)

    def _hand_out(self, sequence: Sequence, output: Output) -> None:
        if output.finish_reason is not None:
            del self._sequences[sequence.request.id]
        self._pending.append(output)
