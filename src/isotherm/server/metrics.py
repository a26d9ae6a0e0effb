"""Prometheus metrics with vLLM's names, the prefix `isotherm:` in place of `vllm:`."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from isotherm.core.stats import EngineInfo, EngineStats

_FIRST = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160)
_BETWEEN = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_WHOLE = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640)
_LABELS = ("model_name",)


class EngineCollector(Collector):
    """The engine's gauges and counters, as of the last `stats` that was set."""

    def __init__(self, model: str, info: EngineInfo):
        self._model = model
        self._info = info
        self.stats = EngineStats()

    def collect(self) -> Iterator[Metric]:
        """Called by the registry."""
        s = self.stats
        yield self._gauge("num_requests_running", "Requests in the running batch.", s.running)
        yield self._gauge("num_requests_waiting", "Requests that wait for admission.", s.waiting)
        used = s.blocks_used / max(self._info.blocks, 1)
        yield self._gauge("kv_cache_usage_perc", "Fraction of KV blocks in use; 1 is full.", used)
        slots = s.slots_used / max(self._info.slots, 1)
        yield self._gauge("state_slot_usage_perc", "Fraction of state slots in use; 1 is full.", slots)
        yield self._gauge("engine_resident_memory_bytes", "Memory of the engine's process.", s.resident_bytes)
        for name, text, value in (
            ("prompt_tokens", "Prompt tokens processed.", s.prompt_tokens),
            ("generation_tokens", "Tokens generated.", s.generation_tokens),
            ("num_preemptions", "Preemptions.", s.preemptions),
            ("prefix_cache_queries", "Prompt tokens looked up in the prefix cache.", s.cache_queries),
            ("prefix_cache_hits", "Prompt tokens that were skipped.", s.cache_hits),
            ("prefix_cache_matched", "Requests whose first block the cache held.", s.matched),
            ("prefix_cache_restored", "Requests that skipped tokens.", s.restored),
            ("prefix_cache_evicted_blocks", "Blocks evicted.", s.evicted_blocks),
            ("prefix_cache_evicted_snapshots", "Snapshots evicted.", s.evicted_snapshots),
            ("engine_restarts", "Times that the engine's process died and was started again.", s.restarts),
            ("states_restored", "States that a hit began from (numerics=native).", s.states_restored),
            ("states_restored_equal", "Of these, those with the bytes that were saved.", s.states_restored_equal),
        ):
            yield self._counter(name, text, value)
        yield self._declined()
        yield from self._drafts()
        yield from self._host()

    def _gauge(self, name: str, text: str, value: float) -> GaugeMetricFamily:
        family = GaugeMetricFamily(f"isotherm:{name}", text, labels=_LABELS)
        family.add_metric((self._model,), value)
        return family

    def _counter(self, name: str, text: str, value: float) -> CounterMetricFamily:
        family = CounterMetricFamily(f"isotherm:{name}", text, labels=_LABELS)
        family.add_metric((self._model,), value)
        return family

    def _declined(self) -> CounterMetricFamily:
        text = "Requests that skipped nothing, by reason."
        family = CounterMetricFamily("isotherm:prefix_cache_declined", text, labels=(*_LABELS, "reason"))
        for reason, count in sorted(self.stats.declined.items()):
            family.add_metric((self._model, reason), count)
        return family

    def _host(self) -> Iterator[Metric]:
        s = self.stats.host
        yield self._gauge("host_cache_usage_bytes", "Bytes of the host tier in use.", s.bytes_used)
        yield self._gauge("host_cache_blocks", "KV blocks in the host tier.", s.blocks_used)
        yield self._gauge("host_cache_snapshots", "States in the host tier.", s.slots_used)
        for name, text, value in (
            ("external_prefix_cache_hits", "Prompt tokens that only the host tier had.", s.hit_tokens),
            ("host_cache_restored", "Requests whose hit went on in the host tier.", s.hits),
            ("host_cache_offloaded_blocks", "Blocks copied to the host tier.", s.offloaded_blocks),
            ("host_cache_offloaded_snapshots", "States copied to the host tier.", s.offloaded_snapshots),
            ("host_cache_reloaded_blocks", "Blocks copied back from it.", s.reloaded_blocks),
            ("host_cache_reloaded_snapshots", "States copied back from it.", s.reloaded_snapshots),
            ("host_cache_lost_snapshots", "States evicted for which it had no room.", s.lost_snapshots),
        ):
            yield self._counter(name, text, value)

    def _drafts(self) -> Iterator[CounterMetricFamily]:
        s = self.stats
        for name, text, value in (
            ("spec_decode_num_drafts", "Passes of a sequence that checked guesses.", s.drafts),
            ("spec_decode_num_draft_tokens", "Guesses checked.", s.drafted_tokens),
            ("spec_decode_num_accepted_tokens", "Guesses that were right.", sum(s.accepted_by_position)),
        ):
            yield self._counter(name, text, value)
        name, text = "isotherm:spec_decode_num_accepted_tokens_per_pos", "The same by place in the draft."
        family = CounterMetricFamily(name, text, labels=(*_LABELS, "position"))
        for position, count in enumerate(s.accepted_by_position):
            family.add_metric((self._model, str(position)), count)
        yield family


class Metrics:
    """A registry of its own. What the server measures is observed here; what the engine counts is read from its stats."""

    def __init__(self, model: str, info: EngineInfo):
        self._registry = CollectorRegistry()
        self._engine = EngineCollector(model, info)
        self._registry.register(self._engine)
        ProcessCollector(registry=self._registry)
        self._model = model
        self.first_token = self._histogram("time_to_first_token_seconds", "From arrival to the first token.", _FIRST)
        self.between_tokens = self._histogram("inter_token_latency_seconds", "Between two tokens.", _BETWEEN)
        self.whole = self._histogram("e2e_request_latency_seconds", "From arrival to the last token.", _WHOLE)
        self._success = Counter(
            "isotherm:request_success",
            "Choices that ended, by reason.",
            (*_LABELS, "finished_reason"),
            registry=self._registry,
        )

    def finished(self, reason: str) -> None:
        """Count one choice that ended."""
        self._success.labels(self._model, reason).inc()

    def render(self, stats: EngineStats | None) -> bytes:
        """The text that a scraper reads. stats: None keeps the engine's last known numbers."""
        if stats is not None:
            self._engine.stats = stats
        return generate_latest(self._registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        family = Histogram(f"isotherm:{name}", text, _LABELS, buckets=buckets, registry=self._registry)
        return family.labels(self._model)
