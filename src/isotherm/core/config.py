"""Configuration: frozen, nested, `auto` settled once by `resolve`."""

from dataclasses import dataclass, field
from typing import Literal

from isotherm.core.constants import BLOCK
from isotherm.core.errors import ConfigError
from isotherm.core.numerics import NativeConfig, Numerics

DType = Literal["auto", "bfloat16", "float32"]
Provider = Literal["auto", "c", "torch", "triton"]
Device = Literal["auto", "cpu", "cuda"]


def gib(name: str, count: float) -> int:
    """The bytes of so many GiB. Raises ConfigError naming the setting."""
    if not 0 <= count < 1 << 30:
        raise ConfigError(name, f"must be a number of GiB, at least 0, got {count}")
    return int(count * (1 << 30))


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Which checkpoint, and how its arithmetic is done.

    path: a folder, a hub id, or "" for the embedded model. max_model_len: tokens, 0 for the checkpoint's own maximum.
    kernels: "c" (needs a compiler), "torch" (exact, slower, other bits), "triton" (on a GPU), or "auto", the best of `device`.
    threads: 0 for one a core. device: "auto" is "cuda" where there is one and `kernels` leaves it open.
    enforce_eager: run every pass launch by launch, none recorded; slower, with the same bits.
    """

    path: str = ""
    revision: str | None = None
    dtype: DType = "auto"
    max_model_len: int = 0
    kernels: Provider = "auto"
    threads: int = 0
    device: Device = "cpu"
    enforce_eager: bool = False


@dataclass(frozen=True, slots=True)
class CacheConfig:
    """What may be kept between requests. memory_bytes: KV blocks and state slots together; 0 for a default from free memory.

    blocks, slots: how many of each, 0 to derive them from memory_bytes (tests set them to make pools tiny).
    snapshot_interval: a long prompt keeps a snapshot every so many tokens (a multiple of 64; 0 for none).
    gpu_memory_utilization: of a GPU's memory, weights and what a pass needs included, how much may be used in all.
    offload_bytes: memory of the host for what is evicted, half for blocks and half for states; 0 to let it go. Without prefix
    caching nothing is evicted, and none is taken.
    """

    enable_prefix_caching: bool = True
    memory_bytes: int = 0
    blocks: int = 0
    slots: int = 0
    snapshot_interval: int = 2048
    gpu_memory_utilization: float = 0.9
    offload_bytes: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.gpu_memory_utilization <= 1:
            raise ConfigError(
                "gpu_memory_utilization", f"must be above 0, at most 1, got {self.gpu_memory_utilization}"
            )
        for name in ("memory_bytes", "blocks", "slots", "snapshot_interval", "offload_bytes"):
            if getattr(self, name) < 0:
                raise ConfigError(name, f"must not be negative, got {getattr(self, name)}")
        if self.snapshot_interval % BLOCK:
            raise ConfigError("snapshot_interval", f"must be a multiple of {BLOCK}, got {self.snapshot_interval}")


@dataclass(frozen=True, slots=True)
class SchedulerConfig:
    """Limits on one pass. max_num_seqs: sequences that run at once. max_num_batched_tokens: rows a pass may compute.

    max_waiting: requests that may queue before a new one is refused.
    """

    max_num_seqs: int = 16
    max_num_batched_tokens: int = 2048
    max_waiting: int = 1024

    def __post_init__(self) -> None:
        for name in ("max_num_seqs", "max_num_batched_tokens", "max_waiting"):
            if getattr(self, name) < 1:
                raise ConfigError(name, f"must be at least 1, got {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class SpeculativeConfig:
    """Tokens guessed ahead and checked by the model in one pass; the answers are those of none.

    method: "mtp", the checkpoint's own drafter, or "ngram", what followed the same tokens before. num_speculative_tokens: 1 to 8,
    the most at once. adaptive: fewer for a sequence whose guesses were wrong, down to none now and then.
    """

    method: str
    num_speculative_tokens: int = 1
    adaptive: bool = False

    def __post_init__(self) -> None:
        if self.method not in ("mtp", "ngram"):
            raise ConfigError("speculative_config.method", f"must be mtp or ngram, got {self.method!r}")
        count = self.num_speculative_tokens
        if not isinstance(count, int) or not 1 <= count <= 8:
            raise ConfigError("speculative_config.num_speculative_tokens", f"must be from 1 to 8, got {count!r}")
        if not isinstance(self.adaptive, bool):
            raise ConfigError("speculative_config.adaptive", f"must be true or false, got {self.adaptive!r}")


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Everything the engine needs to know. trace: a folder for a trace of each request; "" for none.

    speculative: None for no drafts. native: the switches of numerics "native", which is always in bfloat16 and has kernels of
    its own.
    """

    model: ModelConfig = field(default_factory=ModelConfig)
    cache: CacheConfig = field(default_factory=CacheConfig)
    scheduler: SchedulerConfig = field(default_factory=SchedulerConfig)
    trace: str = ""
    numerics: Numerics = "exact"
    native: NativeConfig = field(default_factory=NativeConfig)
    speculative: SpeculativeConfig | None = None

    @property
    def has_drafter(self) -> bool:
        """Whether the checkpoint's own drafter runs with the model."""
        return self.speculative is not None and self.speculative.method == "mtp"

    @property
    def most_drafts(self) -> int:
        """Guesses that a segment may have."""
        return 0 if self.speculative is None else self.speculative.num_speculative_tokens

    def __post_init__(self) -> None:
        if self.numerics == "exact":
            self.native.check_unused()
            return
        if self.numerics != "native":
            raise ConfigError("numerics", f"must be exact or native, got {self.numerics!r}")
        if self.native.drafter_anchor and not self.has_drafter:
            raise ConfigError("native_drafter_anchor", "there is no drafter: --speculative-config with the method mtp")
        if self.cache.offload_bytes:
            raise ConfigError("kv_offloading_size", "cannot be honoured: numerics=native has no host tier")
        if self.model.dtype == "float32":
            raise ConfigError("dtype", "numerics=native is always in bfloat16")
        if self.model.kernels != "auto":
            raise ConfigError("kernels", "numerics=native has kernels of its own: leave it at auto")
        grid, seqs, budget = self.native.grid, self.scheduler.max_num_seqs, self.scheduler.max_num_batched_tokens
        if grid and budget < grid + seqs:
            raise ConfigError(
                "max_num_batched_tokens",
                f"must be at least native_grid + max_num_seqs = {grid + seqs}, so that no prefill waits for ever; got {budget}",
            )
