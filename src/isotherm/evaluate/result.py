"""What an evaluation found: a row a case, the fraction that is right in each group, and whether the bars are met."""

from dataclasses import asdict, dataclass, field
from typing import Any

from isotherm.gate.answer import Answer

SCHEMA = 1

BARS = {
    "single_known": 0.95,
    "single_held_out": 0.80,
    "parallel": 0.90,
    "round_trip": 0.97,
    "no_call": 0.95,
    "mtp_first_accept": 0.60,
}
"""The least fraction of each figure that the embedded model is to reach."""

MEANINGS = {
    "single_known": "a call of a trained tool",
    "single_held_out": "a call of an unseen tool",
    "parallel": "several calls at once",
    "round_trip": "answers with the result",
    "no_call": "calls nothing needlessly",
    "mtp_first_accept": "drafter's first draft",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One case. reason: why it is not right, None when it is. accepted, drafted: first drafts, 0 of 0 where not counted."""

    id: str
    group: str
    reason: str | None
    answer: Answer
    accepted: int = 0
    drafted: int = 0

    def to_record(self) -> dict[str, Any]:
        """For JSON: what was said, and how it was judged."""
        return {
            "id": self.id,
            "group": self.group,
            "right": self.reason is None,
            "reason": self.reason,
            "text": self.answer.text,
            "reasoning": self.answer.reasoning,
            "tool_calls": [asdict(call) for call in self.answer.tool_calls],
            "finish_reason": self.answer.finish_reason,
            "prompt_tokens": len(self.answer.prompt_ids),
            "completion_tokens": len(self.answer.token_ids),
            "accepted": self.accepted,
            "drafted": self.drafted,
        }


@dataclass(frozen=True, slots=True)
class Figure:
    """right of `total`. bar: the least fraction that is asked for, None for none."""

    name: str
    right: int
    total: int
    bar: float | None

    @property
    def fraction(self) -> float | None:
        """None when nothing was counted."""
        return self.right / self.total if self.total else None

    @property
    def met(self) -> bool:
        """Nothing counted meets any bar: a file of one's own need not have every group, nor a checkpoint a drafter."""
        return self.fraction is None or self.bar is None or self.fraction >= self.bar


@dataclass(frozen=True, slots=True)
class EvalReport:
    """model: as the user wrote it. build: the engine's fingerprint. drafter: "measured", or why it was not."""

    model: str
    rows: tuple[Row, ...]
    build: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    drafter: str = "measured"

    def figures(self) -> tuple[Figure, ...]:
        """The figures with a bar, then those of other groups."""
        groups = [*BARS, *dict.fromkeys(row.group for row in self.rows if row.group not in BARS)]
        return tuple(self._figure(name) for name in groups)

    def _figure(self, name: str) -> Figure:
        if name == "mtp_first_accept":
            right, total = sum(row.accepted for row in self.rows), sum(row.drafted for row in self.rows)
        else:
            judged = [row.reason is None for row in self.rows if row.group == name]
            right, total = sum(judged), len(judged)
        return Figure(name, right, total, BARS.get(name))

    @property
    def passed(self) -> bool:
        """Whether every bar is met."""
        return all(figure.met for figure in self.figures())

    def to_record(self) -> dict[str, Any]:
        """For JSON: the figures by name as fractions (null where nothing was counted), then the details."""
        figures = self.figures()
        return {
            "schema": SCHEMA,
            "cases": len(self.rows),
            **{figure.name: figure.fraction for figure in figures},
            "pass": self.passed,
            "figures": [asdict(figure) | {"fraction": figure.fraction, "met": figure.met} for figure in figures],
            "model": self.model,
            "build": self.build,
            "drafter": self.drafter,
            "seconds": round(self.seconds, 3),
            "rows": [row.to_record() for row in self.rows],
        }
