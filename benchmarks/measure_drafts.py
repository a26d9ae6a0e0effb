"""Measure speculative decoding in process against none, with scripted acceptance, beside its bound; print JSON and a table.

    python benchmarks/measure_drafts.py [CHECKPOINT] [--method mtp|script] [--threads 2] [--out FILE]

First B requests are answered without drafts. Then they are asked again with up to K drafts, each of which is right with a given
chance, whatever was really drafted: with "mtp" the checkpoint's drafter runs and its tokens are replaced; with "script" there is
no drafter and guesses cost nothing. Rates are new tokens a second from the first step in which all requests generate to the
first end. Chances come from a seeded stream, so every run of a setting makes the same passes.

The bound of a setting is (new tokens a verify) x (time of a step without drafts) / (time of a step that verifies K drafts, and K
drafter steps). New tokens a verify are 1 + a + ... + a^K, with the acceptance a that the run's stream had. Times are medians of
this run: of whole steps of B sequences, guesses costing nothing, and of the drafter's pass of one row a sequence with its logits
and choice.
"""

import argparse
import json
import random
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from isotherm import LLM, SamplingParams, __version__
from isotherm.bench.workload import Prompts
from isotherm.core.config import SpeculativeConfig
from isotherm.core.plan import SampleRow, Segment
from isotherm.core.request import Request
from isotherm.engine.engine import Engine
from isotherm.scheduler.guesses import Guesses
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


@dataclass
class Run:
    """What one run of B requests showed. step_s: seconds of the steps in which every sequence had all its drafts."""

    tokens_per_s: float
    step_s: list[float]
    answers: list[list[int]]
    acceptance: float


class Bench:
    """Prompts of random tokens, answered greedily by engines of one checkpoint."""

    def __init__(self, args: argparse.Namespace):
        self.args, self.began = args, time.perf_counter()
        self.engines: dict[bool, Engine] = {}
        plain = self.engine(False)
        self.longest = plain.info.max_model_len
        prompts = Prompts(plain.info.vocab_size, args.seed)
        self.prompts = [prompts.next(args.prompt) for _ in range(max(args.at_once))]

    def engine(self, drafter: bool) -> Engine:
        """One with the checkpoint's drafter, or one without."""
        if drafter not in self.engines:
            args = self.args
            llm = LLM(
                args.checkpoint,
                threads=args.threads,
                max_model_len=args.prompt + args.new + 64,
                max_num_seqs=max(args.at_once),
                enable_prefix_caching=False,
                speculative_config=SpeculativeConfig("mtp", max(args.drafts)) if drafter else None,
            )
            self.engines[drafter] = llm.engine
        return self.engines[drafter]

    def run(self, at_once: int, count: int, chance: float, known: list[list[int]], drafter: bool) -> Run:
        """B requests with `count` drafts at most, after `known`, what they are answered."""
        engine, args = self.engine(drafter), self.args
        first = engine.scheduler._arrivals
        whole = [list(prompt) + answer for prompt, answer in zip(self.prompts, known, strict=False)]
        coming = {first + place: tokens for place, tokens in enumerate(whole)}
        guesses = Script(count, self.longest, coming, chance, not drafter) if count else Guesses(None, self.longest)
        engine.scheduler._guesses = guesses
        greedy = SamplingParams(temperature=0.0, max_tokens=args.new, ignore_eos=True)
        answers: dict[str, list[int]] = {}
        for place in range(at_once):
            answers[f"{first}-{place}"] = []
            engine.add(Request(f"{first}-{place}", tuple(self.prompts[place]), greedy))
        while not all(answers.values()):
            self._step(engine, answers)
        start, had, steps, ended = time.perf_counter(), sum(map(len, answers.values())), [], False
        while not ended:
            began, drafted = time.perf_counter(), engine.scheduler._counters.drafted_tokens
            outputs = self._step(engine, answers)
            if engine.scheduler._counters.drafted_tokens - drafted == at_once * count:
                steps.append(time.perf_counter() - began)
            ended = any(output.finish_reason for output in outputs)
        rate = (sum(map(len, answers.values())) - had) / (time.perf_counter() - start)
        while engine.has_work:
            self._step(engine, answers)
        acceptance = guesses.right / guesses.checked if isinstance(guesses, Script) else 0.0
        return Run(rate, steps, list(answers.values()), acceptance)

    @staticmethod
    def _step(engine: Engine, answers: dict[str, list[int]]) -> list[Any]:
        outputs = engine.step()
        for output in outputs:
            answers[output.request_id] += output.tokens
        return outputs

    @torch.inference_mode()
    def draft_s(self, at_once: int) -> float:
        """Seconds of the drafter's pass of one row a sequence, with its logits and choice; whose blocks it reads is all one."""
        runner = self.engine(True).runner
        drafter, kept = runner.drafter, runner.state.drafter
        assert drafter is not None and kept is not None
        position = self.args.prompt
        blocks = tuple(range(1, position // 64 + 2))
        row = SampleRow(0, SamplingParams(temperature=0.0), 0, 0)
        segments = [Segment(n, n, position, (n,), blocks, 0, rows=(row,)) for n in range(at_once)]
        rows = torch.zeros(at_once, runner.decoder.spec.hidden_size, dtype=runner.decoder.kernels.dtype)
        times = []
        for _ in range(200):
            start = time.perf_counter()
            made = drafter._laid_out(segments, rows, kept.kv)
            logits = drafter._mtp.logits(runner.decoder.kernels, made)
            runner.sampler.choices(logits, [row] * at_once, [position + 1] * at_once)
            times.append(time.perf_counter() - start)
        return statistics.median(times)

    def settings(self) -> list[dict[str, Any]]:
        """Every setting, each between two runs without drafts."""
        drafter, rows = self.args.method == "mtp", []
        for at_once in self.args.at_once:
            plain = self.run(at_once, 0, 0.0, [], False)  # untimed
            known, rates, steps = plain.answers, [], []
            draft_s = self.draft_s(at_once) if drafter else 0.0
            for count in self.args.drafts:
                for _ in range(2):
                    plain = self.run(at_once, 0, 0.0, known, False)
                    rates.append(plain.tokens_per_s)
                    steps += plain.step_s
                verify = self.run(at_once, count, 1.0, known, False).step_s
                for chance in self.args.chances:
                    runs = [self.run(at_once, count, chance, known, drafter) for _ in range(self.args.repeats)]
                    assert all(run.answers == known for run in runs), "drafts changed an answer"
                    rows.append(
                        self.row(at_once, count, chance, runs, rates[-2:], steps, statistics.median(verify), draft_s)
                    )
        return rows

    def row(
        self,
        at_once: int,
        count: int,
        chance: float,
        runs: list[Run],
        plain: list[float],
        steps: list[float],
        verify_s: float,
        draft_s: float,
    ) -> dict[str, Any]:
        rate, without = statistics.median(run.tokens_per_s for run in runs), statistics.median(plain)
        tokens = sum(runs[0].acceptance ** place for place in range(count + 1))
        step_s = statistics.median(steps)
        bound = tokens * step_s / (verify_s + count * draft_s)
        found = {
            "at_once": at_once,
            "drafts": count,
            "chance": chance,
            "acceptance": round(runs[0].acceptance, 3),
            "tokens_per_s": round(rate, 1),
            "without_tokens_per_s": round(without, 1),
            "times": round(rate / without, 3),
            "bound_times": round(bound, 3),
            "of_bound": round(rate / without / bound, 3),
            "step_ms": round(step_s * 1e3, 3),
            "verify_ms": round(verify_s * 1e3, 3),
            "draft_ms": round(draft_s * 1e3, 3),
        }
        print(f"[{time.perf_counter() - self.began:6.1f} s] {found}", file=sys.stderr, flush=True)
        return found


def table(rows: list[dict[str, Any]]) -> str:
    lines = ["| at once | drafts | acceptance | tokens/s | without | times | bound | of it |", "| ---: " * 8 + "|"]
    for row in rows:
        names = (
            "at_once",
            "drafts",
            "acceptance",
            "tokens_per_s",
            "without_tokens_per_s",
            "times",
            "bound_times",
            "of_bound",
        )
        lines.append("| " + " | ".join(str(row[name]) for name in names) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkpoint", nargs="?", default="", help="the embedded model when left out")
    parser.add_argument("--method", choices=("mtp", "script"), default="mtp")
    parser.add_argument("--drafts", type=int, nargs="+", default=[1, 3, 8])
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--chances", type=float, nargs="+", default=[0.0, 0.5, 0.8, 1.0])
    parser.add_argument("--prompt", type=int, default=100)
    parser.add_argument("--new", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="write the JSON here")
    args = parser.parse_args()
    bench = Bench(args)
    rows = bench.settings()
    build = bench.engine(False).info.build
    result = {"versions": {"isotherm": __version__}, "date": time.strftime("%Y-%m-%d"), "build": build, "rows": rows}
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(table(rows))


if __name__ == "__main__":
    main()
