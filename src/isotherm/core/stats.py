"""What the engine reports about itself."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class HostStats:
    """Of the host tier: what it holds now, and, ever growing, what was copied to it and back.

    hits: requests whose hit went on there. hit_tokens: prompt tokens that only it had. lost_snapshots: evicted from the device,
    and not taken since all of the tier was in use or too small.
    """

    blocks_used: int = 0
    slots_used: int = 0
    offloaded_blocks: int = 0
    offloaded_snapshots: int = 0
    reloaded_blocks: int = 0
    reloaded_snapshots: int = 0
    lost_snapshots: int = 0
    hits: int = 0
    hit_tokens: int = 0
    bytes_used: int = 0


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """Fixed at load. build: the fingerprint of everything that decides bits. blocks, slots: capacities; host_blocks, host_slots:
    the host tier's, 0 without one.

    snapshot_interval: the layout's, so that a client can compute which hits to expect. numerics: "exact" or "native".
    """

    max_model_len: int
    vocab_size: int
    blocks: int
    slots: int
    snapshot_interval: int
    prefix_caching: bool
    build: dict[str, str] = field(default_factory=dict)
    numerics: str = "exact"
    host_blocks: int = 0
    host_slots: int = 0


@dataclass(frozen=True, slots=True)
class EngineStats:
    """Gauges and ever-growing counters.

    cache_queries, cache_hits: prompt tokens looked up, and skipped. matched: requests whose first block the cache held.
    restored: requests that skipped tokens. declined: requests that matched or asked and skipped nothing, by reason
    ("no_match", "no_snapshot", "opted_out", "prompt_logprobs", "too_short", "disabled"; with native numerics "not_restored" and
    "no_anchor"). skipped_snapshots: snapshots that a prompt should have kept and for which no slot could be had. states_restored,
    states_restored_equal: with native numerics, states that a hit began from, and those of them that had the bytes that were
    saved. restarts: times that the engine's process died and was started again. resident_bytes: of the engine's process in
    memory; 0 where unknown.
    drafts: passes of a sequence that checked guesses; drafted_tokens: the guesses; accepted_by_position: how many first, second
    and further guesses were right.
    """

    running: int = 0
    waiting: int = 0
    blocks_used: int = 0
    slots_used: int = 0
    cache_queries: int = 0
    cache_hits: int = 0
    matched: int = 0
    restored: int = 0
    declined: dict[str, int] = field(default_factory=dict)
    preemptions: int = 0
    prompt_tokens: int = 0
    generation_tokens: int = 0
    evicted_blocks: int = 0
    evicted_snapshots: int = 0
    passes: int = 0
    skipped_snapshots: int = 0
    states_restored: int = 0
    states_restored_equal: int = 0
    restarts: int = 0
    resident_bytes: int = 0
    drafts: int = 0
    drafted_tokens: int = 0
    accepted_by_position: tuple[int, ...] = ()
    host: HostStats = field(default_factory=HostStats)
