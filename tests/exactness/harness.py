"""What the exactness tests share: engines on tiny checkpoints, and what is compared between them."""

import os
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from isotherm.core.config import CacheConfig, EngineConfig, ModelConfig, SchedulerConfig, SpeculativeConfig
from isotherm.core.request import Output, Request
from isotherm.core.sampling import SamplingParams
from isotherm.core.vocabulary import Vocabulary
from isotherm.engine.engine import Engine
from isotherm.fuzz.play import bits_of
from isotherm.fuzz.states import check_published, poison

VOCABULARY_SIZE = 512
EOS = 511
GREEDY = SamplingParams(temperature=0.0, max_tokens=24, logprobs=20, ignore_eos=True)

WEATHER_TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather for a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


ON_GPU = os.environ.get("ISOTHERM_TEST_DEVICE") == "cuda"
"""The tests that name the C kernels run on the GPU's instead: scripts/test-gpu."""

TINY = {"linear_value_head_dim": 32} if ON_GPU else {}
"""A shape of tiny checkpoints: the GPU kernels need a power of two."""


def on_test_device(kernels: str, dtype: str) -> tuple[str, str]:
    """A build as a test names it, or the GPU's."""
    if not ON_GPU:
        return kernels, dtype
    if kernels == "torch" or dtype == "float32":
        pytest.skip("another build of the CPU")
    return "triton", "bfloat16"


def vocabulary(size: int = VOCABULARY_SIZE) -> Vocabulary:
    """Token i is the two hexadecimal digits of i % 256, so that stop strings have something to match."""
    return Vocabulary(tuple(f"{i % 256:02x}".encode() for i in range(size)), frozenset({EOS}), (EOS,))


def tokens(length: int, seed: int = 0) -> tuple[int, ...]:
    """`length` random token ids, none of them the end of a sequence."""
    rng = random.Random(seed)
    return tuple(rng.randrange(EOS) for _ in range(length))


@dataclass(frozen=True)
class Setup:
    """One build of one checkpoint, from which engines are opened."""

    folder: Path
    kernels: str
    dtype: str
    threads: int = 1

    def engine(
        self,
        *,
        caching: bool = True,
        budget: int = 2048,
        seqs: int = 8,
        blocks: int = 0,
        slots: int = 0,
        max_model_len: int = 2048,
        threads: int | None = None,
        snapshot_interval: int = 2048,
        speculative: SpeculativeConfig | None = None,
        offload_bytes: int = 0,
    ) -> Engine:
        """A fresh engine; memory is small, and NaN until it is written."""
        kernels, dtype = on_test_device(self.kernels, self.dtype)
        config = EngineConfig(
            ModelConfig(str(self.folder), None, dtype, max_model_len, kernels, threads or self.threads),
            CacheConfig(caching, 64 << 20, blocks, slots, snapshot_interval, offload_bytes=offload_bytes),
            SchedulerConfig(seqs, budget),
            speculative=speculative,
        )
        engine = Engine(config, self.folder, vocabulary())
        poison(engine.runner.state)
        return engine


@dataclass
class Answer:
    """What is compared: token ids, and every log-probability as float32 bits."""

    tokens: list[int] = field(default_factory=list)
    bits: list[tuple[object, ...]] = field(default_factory=list)
    prompt_bits: list[tuple[object, ...]] = field(default_factory=list)
    cached: int | None = None
    finish: str | None = None

    def add(self, output: Output) -> None:
        """Take one step's output."""
        self.tokens += output.tokens
        self.bits += [bits_of(entry) for entry in output.logprobs]
        if output.prompt_logprobs is not None:
            self.prompt_bits = [bits_of(entry) for entry in output.prompt_logprobs]
        if output.cached_tokens is not None:
            self.cached = output.cached_tokens
        self.finish = output.finish_reason or self.finish

    @property
    def compared(self) -> tuple[object, ...]:
        """All but `cached`, which may differ."""
        return (self.tokens, self.bits, self.prompt_bits, self.finish)


def request(prompt: Sequence[int], name: str = "r", params: SamplingParams = GREEDY, **fields: object) -> Request:
    """A request with the tests' defaults."""
    return replace(Request(name, tuple(prompt), params), **fields)  # type: ignore[arg-type]


def drive(engine: Engine, requests: Iterable[Request] = ()) -> dict[str, Answer]:
    """Add the requests, in order, and step until nothing is left."""
    answers: dict[str, Answer] = {}
    for item in requests:
        engine.add(item)
        answers[item.id] = Answer()
    collect(engine, answers)
    return answers


def collect(engine: Engine, answers: dict[str, Answer], steps: int = 100_000) -> None:
    """Step until nothing is left, or `steps` times; the cache's invariants are checked after each."""
    for _ in range(steps):
        if not engine.has_work:
            return
        for output in engine.step():
            answers.setdefault(output.request_id, Answer()).add(output)
        engine.cache.check()


def alone(setup: Setup, item: Request, **options: object) -> Answer:
    """The oracle: the request by itself on a fresh engine, caching off."""
    return drive(setup.engine(caching=False, **options), [item])[item.id]  # type: ignore[arg-type]


def assert_published_is_exact(engine: Engine) -> int:
    """Every published block and snapshot, of both tiers, has the bits of a fresh one-pass prefill; how many were compared."""
    runner, compared = engine.runner, 0
    for count, wrong in check_published(engine.cache, runner.state, runner.decoder, runner.drafter, runner.host):
        assert not wrong, wrong
        compared += count
    return compared
