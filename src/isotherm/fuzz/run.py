"""A campaign: script after script until the time is up, the failing ones made small and written down."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isotherm.fuzz.compare import Verdict, judge
from isotherm.fuzz.draw import draw
from isotherm.fuzz.script import Script
from isotherm.fuzz.shrink import shrink
from isotherm.fuzz.subject import Model

LONGEST = 704
"""Tokens that a fuzzed engine serves: eleven blocks, so that the tiniest pool is tiny."""

MOST_FAILURES = 5

COUNTS = ("seed", "next", "requests", "comparisons", "cached_tokens", "seconds")
"""What is kept of a campaign besides its failures and what each model had of it."""

PER_MODEL = ("scripts", "requests", "comparisons", "cached_tokens", "seconds")


@dataclass(slots=True)
class Tally:
    """A campaign so far. next: the number of the next script. failures: (model, script as JSON, what failed).

    models: by name, what each had of the whole.
    """

    seed: int
    next: int = 0
    requests: int = 0
    comparisons: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    failures: list[dict[str, Any]] = field(default_factory=list)
    models: dict[str, dict[str, float]] = field(default_factory=dict)

    def add(self, model: str, verdict: Verdict, seconds: float) -> None:
        """Count one script's, which took so long."""
        self.next += 1
        self.requests += verdict.requests
        self.comparisons += verdict.comparisons
        self.cached_tokens += verdict.cached_tokens
        self.seconds += seconds
        had = self.models.setdefault(model, dict.fromkeys(PER_MODEL, 0))
        more = (1, verdict.requests, verdict.comparisons, verdict.cached_tokens, seconds)
        for name, count in zip(PER_MODEL, more, strict=True):
            had[name] += count

    def to_record(self) -> dict[str, Any]:
        """As JSON holds it."""
        counts = {name: getattr(self, name) for name in COUNTS}
        told = {"scripts": self.next, "models": self.models}
        return counts | told | {"failures": len(self.failures), "failed": self.failures}


def resumed(record: dict[str, Any]) -> Tally:
    """The tally that `to_record` wrote."""
    return Tally(**{name: record[name] for name in COUNTS}, failures=list(record["failed"]), models=record["models"])


def fuzz(models: Sequence[Model], tally: Tally, minutes: float, told: Callable[[Tally], None] = lambda _: None) -> None:
    """Add to `tally` until the minutes are over or MOST_FAILURES scripts have failed; the models take turns.

    told: called after each script; after one that failed also before it is made smaller, which takes longer.
    """
    start = time.monotonic()
    while time.monotonic() - start < 60 * minutes and len(tally.failures) < MOST_FAILURES:
        model = models[tally.next % len(models)]
        script = draw(script_seed(tally.seed, tally.next), model.longest, model.decoder.spec.vocab_size)
        began = time.monotonic()
        verdict = judge(model, script)
        tally.add(model.name, verdict, time.monotonic() - began)
        if verdict.failures:
            tally.failures.append(_failure(model, script, verdict))
            told(tally)
            tally.failures[-1] = _smallest(model, script, verdict)
        told(tally)


def script_seed(seed: int, number: int) -> int:
    """The seed of a campaign's script."""
    return seed * 1_000_003 + number


def _smallest(model: Model, script: Script, verdict: Verdict) -> dict[str, Any]:
    smallest = shrink(script, lambda smaller: bool(judge(model, smaller).failures))
    again = judge(model, smallest)
    return _failure(model, smallest, again if again.failures else verdict)


def _failure(model: Model, script: Script, verdict: Verdict) -> dict[str, Any]:
    """As JSON holds it. Bits belong to a build, so the build is named."""
    return {
        "model": model.name,
        "kernels": model.decoder.kernels.fingerprint(),
        "script": json.loads(script.to_json()),
        "what": list(verdict.failures),
        "seed": script.seed,
    }


def write_failures(tally: Tally, folder: Path) -> list[Path]:
    """Each failing script as a file that tests/fuzz replays."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for failure in tally.failures:
        path = folder / f"{failure['model']}-{failure['seed']}.json"
        path.write_text(json.dumps(failure, indent=1) + "\n", encoding="utf-8")
        paths.append(path)
    return paths
