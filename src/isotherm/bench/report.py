"""Figures, their JSON and their table."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """A median and the runs behind it."""

    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle run."""
        return statistics.median(self.runs)

    def to_record(self, unit: str) -> dict[str, Any]:
        """As JSON holds it: the median under its unit's name, and the runs."""
        return {unit: round(self.median, 4), "runs": [round(run, 4) for run in self.runs]}


@dataclass(frozen=True, slots=True)
class LengthFigures:
    """Prompts of one length. cold_s, warm_s: to the first token. prefill: prompt tokens a second, cold.

    cached: tokens taken from the cache in the warm runs; None where the server does not say.
    """

    prompt: int
    cold_s: Figure
    warm_s: Figure
    prefill: Figure
    cached: tuple[int | None, ...]

    @property
    def times_faster(self) -> float:
        """Cold over warm."""
        return self.cold_s.median / self.warm_s.median if self.warm_s.median else 0.0


@dataclass(frozen=True, slots=True)
class BenchReport:
    """decode: tokens a second of one request after its first.

    batches: by the number of requests at once, new tokens a second of all of them, prefill included.
    """

    model: str
    base_url: str
    workload: dict[str, Any]
    lengths: tuple[LengthFigures, ...]
    decode: Figure
    batches: dict[int, Figure]
    ignored_eos: bool = True
    build: dict[str, str] = field(default_factory=dict)

    def to_record(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "schema": 2,
            "model": self.model,
            "base_url": self.base_url,
            "build": self.build,
            "workload": self.workload,
            "ignored_eos": self.ignored_eos,
            "figures": {
                "decode": self.decode.to_record("tokens_per_s"),
                "batch": {str(count): figure.to_record("tokens_per_s") for count, figure in self.batches.items()},
                "prefill": {str(at.prompt): at.prefill.to_record("tokens_per_s") for at in self.lengths},
                "warm": [
                    {
                        "prompt": at.prompt,
                        "cold_ttft": at.cold_s.to_record("s"),
                        "warm_ttft": at.warm_s.to_record("s"),
                        "times_faster": round(at.times_faster, 2),
                        "cached_tokens": list(at.cached),
                    }
                    for at in self.lengths
                ],
            },
        }


def tables(report: BenchReport) -> tuple[Table, Table]:
    """First tokens by length, and rates, to print with rich."""
    first = _table("prompt tokens", "cold TTFT", "warm TTFT", "times faster", "cached", "prefill")
    for at in report.lengths:
        cached = "?" if at.cached[-1] is None else str(at.cached[-1])
        rate = f"{at.prefill.median:,.0f} tokens/s"
        first.add_row(f"{at.prompt}", _time(at.cold_s), _time(at.warm_s), f"{at.times_faster:.1f}", cached, rate)
    rates = _table("rate", "tokens/s", "runs")
    work = report.workload
    _rate(rates, f"decode, {work['decode_new']} after {work['decode_prompt']}", report.decode)
    for count, figure in report.batches.items():
        _rate(rates, f"{count} at once, {work['batch_prompt']} + {work['batch_new']} new", figure)
    return first, rates


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right")
    return table


def _rate(table: Table, name: str, figure: Figure) -> None:
    table.add_row(name, f"{figure.median:.1f}", " ".join(f"{run:.1f}" for run in figure.runs))


def _time(figure: Figure) -> str:
    seconds = figure.median
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


Note = Callable[[str], None]
"""Is told what has just been measured."""
