"""Engines on tiny checkpoints, and their answers as bits."""

import random
import struct
from collections.abc import Sequence
from pathlib import Path

from isotherm.core.config import CacheConfig, EngineConfig, ModelConfig, SchedulerConfig, SpeculativeConfig
from isotherm.core.numerics import NativeConfig
from isotherm.core.request import Request
from isotherm.core.sampling import SamplingParams
from isotherm.core.vocabulary import Vocabulary
from isotherm.engine.engine import Engine

GREEDY = SamplingParams(temperature=0.0, max_tokens=12, logprobs=5, ignore_eos=True)
PLAIN = NativeConfig()


def engine(
    folder: Path,
    native: NativeConfig | None = PLAIN,
    *,
    caching: bool = True,
    budget: int = 4096,
    seqs: int = 4,
    speculative: SpeculativeConfig | None = None,
) -> Engine:
    """A fresh engine whose memory is NaN until it is written; `native` None for an exact one."""
    made = Engine(
        EngineConfig(
            ModelConfig(str(folder), max_model_len=2048, threads=1),
            CacheConfig(caching, 64 << 20),
            SchedulerConfig(seqs, budget),
            numerics="exact" if native is None else "native",
            native=native or PLAIN,
            speculative=speculative,
        ),
        folder,
        Vocabulary(tuple(f"{i % 256:02x}".encode() for i in range(512)), frozenset({511}), (511,)),
    )
    state = made.runner.state
    for tensor in (*state.by_block().values(), *state.by_lane().values()):
        tensor.fill_(float("nan"))
    for tensor in state.by_slot().values():
        tensor[1:] = float("nan")
    return made


Bits = tuple[tuple[int, ...], tuple[object, ...]]


def ask(made: Engine, prompt: Sequence[int], params: SamplingParams = GREEDY, hint: int = 0) -> Bits:
    """One request to its end: its tokens, and the bits of their log-probabilities."""
    return ask_together(made, [prompt], params, hint)[0]


def ask_together(
    made: Engine, prompts: Sequence[Sequence[int]], params: SamplingParams = GREEDY, hint: int = 0
) -> list[Bits]:
    """Several at once."""
    tokens: dict[str, list[int]] = {}
    bits: dict[str, list[object]] = {}
    for number, prompt in enumerate(prompts):
        made.add(Request(str(number), tuple(prompt), params, hint=hint))
        tokens[str(number)], bits[str(number)] = [], []
    while made.has_work:
        for output in made.step():
            assert output.finish_reason != "error", output.error
            tokens[output.request_id] += output.tokens
            for entry in output.logprobs:
                top = tuple((token, struct.pack("<f", value)) for token, value in entry.top)
                bits[output.request_id].append((struct.pack("<f", entry.logprob), top))
        made.cache.check()
    return [(tuple(tokens[name]), tuple(bits[name])) for name in tokens]


def words(count: int, seed: int = 0) -> tuple[int, ...]:
    """Random token ids, none of them the end of a sequence."""
    rng = random.Random(seed)
    return tuple(rng.randrange(511) for _ in range(count))


def conversation(made: Engine, recorded: Bits | None = None) -> list[Bits]:
    """Two requests with a preamble in common, then the first goes on: built from its `recorded` answer, the same for all."""
    preamble = words(200)
    first = ask(made, (*preamble, *words(75, 1)), hint=200)
    second = ask(made, (*preamble, *words(120, 2)), hint=200)
    answer = (recorded or first)[0]
    return [first, second, ask(made, (*preamble, *words(75, 1), *answer, *words(40, 3)), hint=200)]
