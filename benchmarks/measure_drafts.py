"""Measure speculative decoding in process against none, with scripted acceptance, beside its bound; print JSON and a table.

    python benchmarks/measure_drafts.py [CHECKPOINT] [--method mtp|script] [--threads 2] [--out FILE]

B requests are answered without drafts, and again with up to K drafts, each of which is right with a given chance, whatever was
really drafted: with "mtp" the checkpoint's drafter runs and its tokens are replaced; with "script" there is no drafter and
guesses cost nothing. Rates are new tokens a second from the first step in which all requests generate to the first end. Chances
come from a seeded stream, so every run of a setting makes the same passes.

The bound of a setting is what acceptance and the cost of its passes allow: n t / (v + K d). n = 1 + a + ... + a^K new tokens a
verify, at the acceptance a that the stream had; t: a step without drafts; v: a step that verifies K guesses for each sequence,
which cost nothing; d: a drafter step. All times are means of whole engine steps, v of those with all guesses; d is what a
further guess adds to the drafter's part of a pass. They are taken in turn with the runs that they bound, --rounds times over,
so that the machine's moods are the same for all of them: "of it" is above 1 by noise only. "free" is the bound if d were 0.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Sequence as Several
from dataclasses import dataclass, field
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


@dataclass
class Run:
    """What runs of B requests showed, one after the other. full_s: of the steps in which every sequence had all its drafts."""

    tokens: int = 0
    seconds: float = 0.0
    full_s: list[float] = field(default_factory=list)
    answers: list[list[int]] = field(default_factory=list)
    acceptance: float = 0.0

    def then(self, other: "Run") -> "Run":
        """Both."""
        tokens, seconds = self.tokens + other.tokens, self.seconds + other.seconds
        return Run(tokens, seconds, self.full_s + other.full_s, other.answers, other.acceptance)

    @property
    def rate(self) -> float:
        """New tokens a second."""
        return self.tokens / self.seconds


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
        return Run(tokens, seconds, steps, list(answers.values()), acceptance)

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
        """A row for every setting."""
        return [row for at_once in sizes for count in counts for row in self._rows(at_once, count, chances, rounds)]

    def _rows(self, at_once: int, count: int, chances: Several[float], rounds: int) -> list[dict[str, Any]]:
        """Round by round: without drafts, guesses that cost nothing, the drafter's steps, and then each chance."""
        known = self.run(self.plain, at_once).answers
        subject = self.drafting or self.plain
        plain, verify = Run(), Run()
        draft_s: list[float] = []
        found: dict[float, Run] = defaultdict(Run)
        for number in range(rounds + 1):
            if number == 1:  # the first round only warms up: sizes are recorded, kernels are compiled
                plain, verify, draft_s, found = Run(), Run(), [], defaultdict(Run)
            for chance in chances:
                plain = plain.then(self.run(self.plain, at_once))
                verify = verify.then(self.run(self.plain, at_once, count, 1.0, known))
                draft_s.append(self.draft_s(at_once, count) if self.drafting else 0.0)
                found[chance] = found[chance].then(self.run(subject, at_once, count, chance, known))
                assert found[chance].answers == known, "drafts changed an answer"
        return [
            self._row(at_once, count, chance, run, plain, verify, statistics.mean(draft_s))
            for chance, run in found.items()
        ]

    def _row(
        self, at_once: int, count: int, chance: float, run: Run, plain: Run, verify: Run, draft_s: float
    ) -> dict[str, Any]:
        verify_s, tokens = statistics.mean(verify.full_s), sum(run.acceptance**place for place in range(count + 1))
        step_s, times = at_once / plain.rate, run.rate / plain.rate
        free = tokens * step_s / verify_s
        bound = tokens * step_s / (verify_s + count * draft_s)
        found = {
            "at_once": at_once,
            "drafts": count,
            "chance": chance,
            "acceptance": round(run.acceptance, 3),
            "tokens_per_s": round(run.rate, 1),
            "without": round(plain.rate, 1),
            "times": round(times, 3),
            "bound": round(bound, 3),
            "of_it": round(times / bound, 3),
            "free": round(free, 3),
            "step_ms": round(step_s * 1e3, 3),
            "verify_ms": round(verify_s * 1e3, 3),
            "draft_ms": round(draft_s * 1e3, 3),
        }
        print(f"[{time.perf_counter() - self._began:6.1f} s] {found}", file=sys.stderr, flush=True)
        return found


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
    parser.add_argument("--rounds", type=int, default=2)
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
