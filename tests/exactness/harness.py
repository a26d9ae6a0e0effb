"""What the exactness tests share: engines on tiny checkpoints, and what is compared between them."""

import hashlib
import random
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from isotherm.core.config import CacheConfig, EngineConfig, ModelConfig, SchedulerConfig, SpeculativeConfig
from isotherm.core.constants import BLOCK
from isotherm.core.request import Output, Request
from isotherm.core.sampling import SamplingParams
from isotherm.core.vocabulary import Vocabulary
from isotherm.engine.engine import Engine
from isotherm.model.decoder import Decoder
from isotherm.runner.drafter import Drafter
from isotherm.runner.forward import Sequenced

VOCABULARY_SIZE = 512
EOS = 511
GREEDY = SamplingParams(temperature=0.0, max_tokens=24, logprobs=20, ignore_eos=True)


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
    ) -> Engine:
        """A fresh engine; memory is small, and NaN until it is written."""
        config = EngineConfig(
            ModelConfig(str(self.folder), None, self.dtype, max_model_len, self.kernels, threads or self.threads),
            CacheConfig(caching, 64 << 20, blocks, slots, snapshot_interval),
            SchedulerConfig(seqs, budget),
            speculative=speculative,
        )
        engine = Engine(config, self.folder, vocabulary())
        poison_everything(engine)
        return engine


def poison_everything(engine: Engine) -> None:
    """Fill every block, slot and lane with NaN, the zero slot apart."""
    for tensor in engine.runner.state.by_block().values():
        tensor.fill_(float("nan"))
    for tensor in engine.runner.state.by_slot().values():
        tensor[1:] = float("nan")
    for tensor in engine.runner.state.by_lane().values():
        tensor.fill_(float("nan"))


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


def bits_of(entry: object) -> tuple[object, ...]:
    """A TokenLogprob with its floats as float32 bit patterns."""
    top = tuple((token, float_bits(value)) for token, value in entry.top)  # type: ignore[attr-defined]
    return (entry.token, float_bits(entry.logprob), entry.rank, top)  # type: ignore[attr-defined]


def float_bits(value: float) -> bytes:
    """The float32 bit pattern."""
    return struct.pack("<f", value)


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


def published(engine: Engine) -> dict[tuple[int, ...], dict[str, str]]:
    """Digests of every published block and snapshot, by the tokens that lead to it."""
    found: dict[tuple[int, ...], dict[str, str]] = {}
    state = engine.runner.state
    for node, prefix in _nodes(engine):
        digests = {f"block {name}": digest(tensor[node.block]) for name, tensor in state.by_block().items()}
        if node.has_snapshot:
            digests |= {f"slot {name}": digest(tensor[node.slot]) for name, tensor in state.by_slot().items()}
        found[prefix] = digests
    return found


def _nodes(engine: Engine):  # type: ignore[no-untyped-def]
    paths = {}
    for node in engine.cache._content.tree.nodes():
        before = paths.get(id(node.parent), ()) if node.parent is not None else ()
        paths[id(node)] = before + node.tokens
        yield node, paths[id(node)]


def digest(tensor: object) -> str:
    """SHA-256 of a tensor's bytes."""
    import torch

    return hashlib.sha256(tensor.contiguous().view(torch.uint8).numpy().tobytes()).hexdigest()  # type: ignore[attr-defined]


def expected_state(decoder: Decoder, prefix: Sequence[int], drafter: Drafter | None = None) -> dict[str, str]:
    """Digests of the last block and of the state after `prefix` (whole blocks), computed in one pass on poisoned memory."""
    sequence = Sequenced(decoder, len(prefix), drafter)
    for tensor in sequence.state.by_block().values():
        tensor.fill_(float("nan"))
    sequence.extend(prefix)
    last = len(prefix) // BLOCK
    blocks = {f"block {name}": digest(tensor[last]) for name, tensor in sequence.state.by_block().items()}
    return blocks | {f"slot {name}": digest(tensor[last]) for name, tensor in sequence.state.by_slot().items()}


def assert_published_is_exact(engine: Engine) -> int:
    """Every published block and snapshot has the bits of a fresh one-pass prefill; returns how many were compared."""
    decoder = engine.runner.decoder
    compared = 0
    for prefix, digests in published(engine).items():
        expected = expected_state(decoder, prefix, engine.runner.drafter)
        wrong = [name for name, value in digests.items() if expected[name] != value]
        assert not wrong, f"after {len(prefix)} tokens: {wrong}"
        compared += len(digests)
    return compared
