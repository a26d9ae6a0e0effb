"""Measure speculative decoding in process against none, with scripted acceptance, beside its bound; print JSON and a table.

    python benchmarks/measure_drafts.py [CHECKPOINT] [--method mtp|script] [--threads 2] [--out FILE]

B requests are answered without drafts, and again with up to K drafts, each of which is right with a given chance, whatever was
really drafted: with "mtp" the checkpoint's drafter runs and its tokens are replaced; with "script" there is no drafter and
guesses cost nothing. Rates are new tokens a second from the first step in which all requests generate to the first end. Chances
come from a seeded stream, so every run of a setting makes the same passes.

The bound of a setting is what acceptance and the cost of its passes allow: n t / (v + K d). n = 1 + a + ... + a^K new tokens a
verify, at the acceptance a that the stream had; t: a step without drafts; v: a step that verifies K guesses for each sequence,
which cost nothing; d: a drafter step, what a further guess adds to the drafter's part of a pass. All are means over one run, of
whole engine steps. A round is these runs one after the other and then the run that they bound, some tenths of a second in all, so
that the machine's moods are the same for them. What is printed are medians over rounds, of ratios within a round: "of_it" is
above 1 by noise only. "free" is the bound if d were 0.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Sequence as Several
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Protocol

import torch

from isotherm import LLM, SamplingParams, __version__
from isotherm.bench.workload import Prompts
from isotherm.core.config import SpeculativeConfig
from isotherm.core.plan import PassPlan, RowResult, SampleRow, Segment
from isotherm.core.request import Output, Request
from isotherm.runner.runner import Runner
from isotherm.scheduler.guesses import Guesses
from isotherm.scheduler.scheduler import Scheduler
from isotherm.scheduler.sequence import Sequence


class Script(Guesses):
    """Guesses that are right as often as `chance` says. coming: by number of a sequence, its tokens.

    free: there is no drafter, and so there are as many guesses as there is room for.
    """

    def __init__(self, count: int, longest: int, coming: dict[int, list[int]], chance: float, free: bool):
        super().__init__(SpeculativeConfig("ngram" if free else "mtp", count), longest)
        self._coming, self._chance, self._free = coming, chance, free
        self._random = random.Random(1)
        self._offered: dict[int, tuple[int, int]] = {}
        self.right = self.checked = 0

    def for_(self, sequence: Sequence, rows: int) -> tuple[int, ...]:
        length, offered = self._offered.get(sequence.number, (0, 0))
        if offered:
            right = sequence.length - length - 1
            self.right += right
            self.checked += min(right + 1, offered)
        guesses = super().for_(sequence, rows)
        self._offered[sequence.number] = sequence.length, len(guesses)
        return guesses

    def found(self, sequence: Sequence, room: int) -> tuple[int, ...]:
        count = room if self._free else min(room, len(sequence.drafts))
        right = self._coming[sequence.number][sequence.length : sequence.length + count]
        return tuple(token if self._random.random() < self._chance else token ^ 1 for token in right)


class Subject(Protocol):
    """An engine, as far as it is needed here."""

    runner: Runner
    scheduler: Scheduler

    def add(self, request: Request) -> None: ...
    def step(self) -> list[Output]: ...


@dataclass(frozen=True)
class Run:
    """What a run of B requests showed. full_s: mean of the steps in which every sequence had all its drafts."""

    tokens: int
    seconds: float
    full_s: float
    answers: list[list[int]]
    acceptance: float

    @property
    def rate(self) -> float:
        """New tokens a second."""
        return self.tokens / self.seconds


@dataclass(frozen=True)
class Round:
    """One measurement of a setting. Names and units are those of the table."""

    acceptance: float
    tokens_per_s: float
    without: float
    step_ms: float
    verify_ms: float
    draft_ms: float
    drafts: int

    @property
    def times(self) -> float:
        """The speed with drafts, of that without."""
        return self.tokens_per_s / self.without

    @property
    def free(self) -> float:
        """The bound on `times` if guesses cost nothing."""
        return self._tokens * self.step_ms / self.verify_ms

    @property
    def bound(self) -> float:
        """The bound on `times`."""
        return self._tokens * self.step_ms / (self.verify_ms + self.drafts * self.draft_ms)

    @property
    def of_it(self) -> float:
        """The share of the bound that is reached."""
        return self.times / self.bound

    @property
    def _tokens(self) -> float:
        return sum(self.acceptance**place for place in range(self.drafts + 1))


NAMES = (
    "acceptance",
    "tokens_per_s",
    "without",
    "times",
    "bound",
    "of_it",
    "free",
    "step_ms",
    "verify_ms",
    "draft_ms",
)


class Bench:
    """Prompts of random tokens, answered greedily by engines of one model: one with its drafter, unless guesses are scripted."""

    def __init__(
        self, plain: Subject, drafting: Subject | None, prompts: Several[Several[int]], new: int, longest: int
    ):
        self.plain, self.drafting = plain, drafting
        self.prompts, self.longest = prompts, longest
        self._greedy = SamplingParams(temperature=0.0, max_tokens=new, ignore_eos=True)
        self._began = time.perf_counter()

    def run(
        self, subject: Subject, at_once: int, count: int = 0, chance: float = 0.0, known: Several[list[int]] = ()
    ) -> Run:
        """B requests with `count` drafts at most, after `known`, what they are answered."""
        scheduler = subject.scheduler
        first = scheduler._arrivals
        whole = [[*prompt, *answer] for prompt, answer in zip(self.prompts, known, strict=False)]
        coming = {first + place: tokens for place, tokens in enumerate(whole)}
        free = subject is not self.drafting
        guesses = Script(count, self.longest, coming, chance, free) if count else Guesses(None, self.longest)
        scheduler._guesses = guesses
        answers: dict[str, list[int]] = {}
        for place in range(at_once):
            answers[f"{first}-{place}"] = []
            subject.add(Request(f"{first}-{place}", tuple(self.prompts[place]), self._greedy))
        while not all(answers.values()):
            _step(subject, answers)
        start, had, steps, ended = time.perf_counter(), sum(map(len, answers.values())), [], False
        while not ended:
            began, drafted = time.perf_counter(), scheduler._counters.drafted_tokens
            outputs = _step(subject, answers)
            if scheduler._counters.drafted_tokens - drafted == at_once * count:
                steps.append(time.perf_counter() - began)
            ended = any(output.finish_reason for output in outputs)
        tokens, seconds = sum(map(len, answers.values())) - had, time.perf_counter() - start
        while scheduler.has_work:
            _step(subject, answers)
        acceptance = guesses.right / guesses.checked if isinstance(guesses, Script) else 0.0
        full_s = statistics.mean(steps) if steps else 0.0
        return Run(tokens, seconds, full_s, list(answers.values()), acceptance)

    @torch.inference_mode()
    def draft_s(self, at_once: int, count: int) -> float:
        """Seconds of a drafter step: what the last of `count` guesses, or the second, adds to the drafter's part of a pass.

        Blocks are read as they lie.
        """
        assert self.drafting is not None
        runner = self.drafting.runner
        drafter, kept = runner.drafter, runner.state.drafter
        assert drafter is not None and kept is not None
        position, most, hidden = len(self.prompts[0]), max(count, 2), runner.decoder.spec.hidden_size
        row = SampleRow(0, SamplingParams(temperature=0.0), 0, 0)
        blocks = tuple(range(1, position // 64 + 3))
        rows = torch.zeros(at_once, hidden, dtype=runner.decoder.kernels.dtype, device=runner.decoder.kernels.device)
        results = [(RowResult(1),)] * at_once
        times = []
        for _ in range(20):
            seconds = []
            for ahead in (1, most):
                segments = [Segment(n, n, position, (n,), blocks, 0, rows=(row,), ahead=ahead) for n in range(at_once)]
                start = time.perf_counter()
                drafter.propose(PassPlan(tuple(segments)), results, rows, rows, kept.kv, runner.sampler)
                seconds.append(time.perf_counter() - start)
            times.append((seconds[1] - seconds[0]) / (most - 1))
        return statistics.mean(sorted(times)[2:-2])

    def settings(
        self, sizes: Several[int], counts: Several[int], chances: Several[float], rounds: int
    ) -> list[dict[str, Any]]:
        """A row for every setting. What is recorded or compiled is so in a first round that does not count."""
        found = []
        for at_once, count in product(sizes, counts):
            known = self.run(self.plain, at_once).answers
            self._round(at_once, count, 1.0, known)
            measured: dict[float, list[Round]] = {chance: [] for chance in chances}
            for _, chance in product(range(rounds), chances):
                measured[chance].append(self._round(at_once, count, chance, known))
            for chance, several in measured.items():
                medians = {name: statistics.median(getattr(one, name) for one in several) for name in NAMES}
                row = {"at_once": at_once, "drafts": count, "chance": chance}
                found.append(row | {name: round(value, 3) for name, value in medians.items()})
                print(f"[{time.perf_counter() - self._began:6.1f} s] {found[-1]}", file=sys.stderr, flush=True)
        return found

    def _round(self, at_once: int, count: int, chance: float, known: Several[list[int]]) -> Round:
        plain = self.run(self.plain, at_once)
        verify = self.run(self.plain, at_once, count, 1.0, known)
        draft_s = self.draft_s(at_once, count) if self.drafting else 0.0
        run = self.run(self.drafting or self.plain, at_once, count, chance, known)
        assert run.answers == known, "drafts changed an answer"
        step_ms, verify_ms, draft_ms = (1e3 * seconds for seconds in (at_once / plain.rate, verify.full_s, draft_s))
        return Round(run.acceptance, run.rate, plain.rate, step_ms, verify_ms, draft_ms, count)


def _step(subject: Subject, answers: dict[str, list[int]]) -> list[Output]:
    outputs = subject.step()
    for output in outputs:
        answers[output.request_id] += output.tokens
    return outputs


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown."""
    names = [name for name in rows[0] if name != "chance"]
    lines = ["| " + " | ".join(names) + " |", "| ---: " * len(names) + "|"]
    return "\n".join(lines + ["| " + " | ".join(str(row[name]) for name in names) + " |" for row in rows])


def options(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """What every model's measurement can be told."""
    parser.add_argument("--drafts", type=int, nargs="+", default=[1, 3, 8])
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--chances", type=float, nargs="+", default=[0.0, 0.5, 0.8, 1.0])
    parser.add_argument("--prompt", type=int, default=100)
    parser.add_argument("--new", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="write the JSON here")
    return parser


def report(rows: list[dict[str, Any]], build: dict[str, Any], out: Path | None) -> None:
    """Prints the table, and writes the JSON where it is wanted."""
    result = {"versions": {"isotherm": __version__}, "date": time.strftime("%Y-%m-%d"), "build": build, "rows": rows}
    if out:
        out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(table(rows))


def main() -> None:
    parser = options(argparse.ArgumentParser(description=__doc__.split("\n")[0]))
    parser.add_argument("checkpoint", nargs="?", default="", help="the embedded model when left out")
    parser.add_argument("--method", choices=("mtp", "script"), default="mtp")
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    speculative = SpeculativeConfig("mtp", max(args.drafts))
    plain, drafting = (
        LLM(
            args.checkpoint,
            threads=args.threads,
            max_model_len=args.prompt + args.new + 64,
            max_num_seqs=max(args.at_once),
            enable_prefix_caching=False,
            speculative_config=config,
        ).engine
        if wanted
        else None
        for config, wanted in ((None, True), (speculative, args.method == "mtp"))
    )
    assert plain is not None
    prompts = Prompts(plain.info.vocab_size, args.seed)
    texts = [prompts.next(args.prompt) for _ in range(max(args.at_once))]
    bench = Bench(plain, drafting, texts, args.new, plain.info.max_model_len)
    report(bench.settings(args.at_once, args.drafts, args.chances, args.rounds), plain.info.build, args.out)


if __name__ == "__main__":
    main()
