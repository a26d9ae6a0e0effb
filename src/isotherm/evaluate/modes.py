"""The same cases in every mode of the engine: each answer against the one that the case gets alone with the cache off."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from isotherm.core.config import CacheConfig, EngineConfig, ModelConfig, SchedulerConfig, SpeculativeConfig
from isotherm.core.constants import BLOCK, blocks_for
from isotherm.core.sampling import SamplingParams
from isotherm.engine.llm import LLM
from isotherm.engine.outputs import RequestOutput
from isotherm.evaluate.answering import read_answer
from isotherm.evaluate.case import EvalCase, load_cases
from isotherm.evaluate.run import TOGETHER, EvalConfig
from isotherm.gate.answer import float32_bits
from isotherm.gate.expect import unmet
from isotherm.model.mtp import has_mtp
from isotherm.model.source import locate
from isotherm.text.chat import ChatPrompt

LIKELIEST = 5
"""Log-probabilities that are compared for each token, besides its own."""

Note = Callable[[str], None]
Bits = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to run. again: what is compared is the second time on one engine. tight: a pool of one longest sequence."""

    name: str
    caching: bool = True
    at_once: int = TOGETHER
    budget: int = 2048
    drafts: SpeculativeConfig | None = None
    again: bool = False
    tight: bool = False


ALONE = Mode("one at a time, cache off", caching=False, at_once=1)

MODES = (
    Mode("32 at once, cache off", caching=False),
    Mode("32 at once, cache on"),
    Mode("the same once more, warm", again=True),
    Mode("8 at once, cache on", at_once=8),
    Mode("passes of 64 tokens", at_once=8, budget=64),
    Mode("3 drafts by the drafter", drafts=SpeculativeConfig("mtp", 3)),
    Mode("3 drafts by n-gram", drafts=SpeculativeConfig("ngram", 3)),
    Mode("a pool that is too small", at_once=8, tight=True),
)


@dataclass(frozen=True, slots=True)
class ModeResult:
    """right: cases judged right. differ: ids of those whose tokens, log-probabilities or end are not ALONE's.

    tokens: generated. cached: prompt tokens from the cache. accepted: drafts that were right.
    """

    mode: Mode
    right: int
    tokens: int
    differ: tuple[str, ...] = ()
    cached: int = 0
    preemptions: int = 0
    accepted: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ModesReport:
    """results: ALONE's first."""

    cases: int
    results: tuple[ModeResult, ...]
    build: dict[str, str]

    @property
    def same(self) -> bool:
        """Whether every mode gave every case the same answer."""
        return not any(result.differ for result in self.results)

    def line(self) -> str:
        """In one sentence."""
        others, build = len(self.results) - 1, self.build.get("id", "?")
        if self.same:
            return f"{self.cases} cases, {others} modes: every token and log-probability is the same; build {build}"
        first = next(result for result in self.results if result.differ)
        return f"{self.cases} cases: {first.mode.name} differs in {', '.join(first.differ[:5])}; build {build}"

    def to_record(self) -> dict[str, Any]:
        """As JSON holds it."""
        results = [asdict(result) | {"mode": result.mode.name} for result in self.results]
        return {"schema": 1, "cases": self.cases, "same": self.same, "modes": results, "build": self.build}


def run_modes(config: EvalConfig, note: Note = lambda _: None, modes: Sequence[Mode] = MODES) -> ModesReport:
    """Answer the cases as ALONE and in each mode; one with the drafter is left out where there is none.

    Raises ConfigError or CheckpointError as `run_eval` does.
    """
    cases = load_cases(config.cases, config.limit)
    folder = locate(config.model, config.revision)
    able = [mode for mode in modes if has_mtp(folder) or mode.drafts is None or mode.drafts.method != "mtp"]
    results: list[ModeResult] = []
    expected: list[Bits] = []
    for number, mode in enumerate((ALONE, *able)):
        note(f"{mode.name} ({number + 1} of {len(able) + 1})")
        llm = _open(config, folder, mode, cases)
        found, result = _answer(llm, config, cases, mode)
        expected = expected or found
        wrong = (case.id for case, mine, theirs in zip(cases, found, expected, strict=True) if mine != theirs)
        results.append(replace(result, differ=tuple(wrong)))
    return ModesReport(len(cases), tuple(results), llm.info.build)


def _open(config: EvalConfig, folder: Path, mode: Mode, cases: tuple[EvalCase, ...]) -> LLM:
    model = ModelConfig(str(folder), None, config.dtype, 0, config.kernels, config.threads)
    cache = CacheConfig(mode.caching)
    scheduler = SchedulerConfig(mode.at_once, mode.budget, max_waiting=1 << 30)
    engine = EngineConfig(model, cache, scheduler, speculative=mode.drafts)
    if not mode.tight:
        return LLM.from_config(engine, folder)
    measure = LLM.from_config(replace(engine, cache=CacheConfig(False)), folder)
    longest = max(len(prompt.tokens) for prompt in _prompts(measure, cases)) + config.max_tokens
    blocks = blocks_for(min(longest, measure.info.max_model_len))
    model = replace(model, max_model_len=blocks * BLOCK)
    pool = CacheConfig(True, blocks=blocks, slots=mode.at_once + 1)
    return LLM.from_config(replace(engine, model=model, cache=pool), folder)


def _answer(llm: LLM, config: EvalConfig, cases: tuple[EvalCase, ...], mode: Mode) -> tuple[list[Bits], ModeResult]:
    prompts = _prompts(llm, cases)
    params = SamplingParams(temperature=0.0, max_tokens=config.max_tokens, logprobs=LIKELIEST)
    start = time.perf_counter()
    for _ in range(1 + mode.again):
        outputs = llm.generate([prompt.tokens for prompt in prompts], params)
    stats = llm.stats()
    right = sum(
        unmet(case.expect, read_answer(case, prompt, output.outputs[0], config.tool_call_parser)) is None
        for case, prompt, output in zip(cases, prompts, outputs, strict=True)
    )
    return [_bits(output) for output in outputs], ModeResult(
        mode,
        right,
        tokens=sum(len(output.outputs[0].token_ids) for output in outputs),
        cached=sum(output.cached_tokens for output in outputs),
        preemptions=stats.preemptions,
        accepted=sum(stats.accepted_by_position),
        seconds=round(time.perf_counter() - start, 1),
    )


def _prompts(llm: LLM, cases: tuple[EvalCase, ...]) -> list[ChatPrompt]:
    return [llm.template.prompt(list(case.messages), list(case.tools) or None) for case in cases]


def _bits(output: RequestOutput) -> Bits:
    """Tokens, every log-probability as float32 bits, and the end."""
    choice = output.outputs[0]
    scores = tuple(
        (float32_bits(entry.logprob), tuple((token, float32_bits(value)) for token, value in entry.top))
        for entry in choice.logprobs or ()
    )
    return (choice.token_ids, scores, choice.finish_reason, choice.stop_reason)
