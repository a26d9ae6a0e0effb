"""What came out: a row an arm, and the report."""

import statistics
from dataclasses import dataclass, field
from typing import Any, Literal

from isotherm.gate.answer import Answer
from isotherm.gate.arms import Arm
from isotherm.gate.compare import Comparison, Kind

ArmVerdict = Literal["pass", "differs", "missing", "reach", "error"]
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Response:
    """One response of an arm. turn: from 0. expected_cached_tokens: what the gate computed.

    reference_ttft_s: the reference arm's time to first token for the same request.
    """

    case: str
    turn: int
    answer: Answer
    comparison: Comparison
    expected_cached_tokens: int
    reference_ttft_s: float | None = None

    @property
    def reached(self) -> bool:
        """Whether the server skipped exactly what the policy says."""
        return self.answer.error is not None or self.answer.cached_tokens == self.expected_cached_tokens

    def to_record(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "case": self.case,
            "turn": self.turn,
            "verdict": self.comparison.verdict,
            "prompt_tokens": len(self.answer.prompt_ids),
            "generated_tokens": len(self.answer.token_ids),
            "cached_tokens": self.answer.cached_tokens,
            "expected_cached_tokens": self.expected_cached_tokens,
            "ttft_ms": _ms(self.answer.ttft_s),
            "finish_reason": self.answer.finish_reason,
            "tool_calls": [[call.name, call.arguments] for call in self.answer.tool_calls],
            "differences": [
                {"kind": d.kind, "what": d.what, "place": d.place, "expected": d.expected, "actual": d.actual}
                for d in self.comparison.differences
            ],
        }


@dataclass(frozen=True, slots=True)
class ArmResult:
    """A finished arm. error: why it has no responses, or stopped before it had them all. seconds: without the server's start."""

    arm: Arm
    responses: tuple[Response, ...] = ()
    error: str | None = None
    start_s: float = 0.0
    seconds: float = 0.0

    def count(self, kind: Kind) -> int:
        """Responses with a difference of this kind."""
        return sum(response.comparison.has(kind) for response in self.responses)

    @property
    def cached_tokens(self) -> int:
        """Tokens that the server says it skipped."""
        return sum(response.answer.cached_tokens or 0 for response in self.responses)

    @property
    def expected_cached_tokens(self) -> int:
        """Tokens that it should have skipped."""
        return sum(response.expected_cached_tokens for response in self.responses)

    @property
    def hits(self) -> int:
        """Responses for which something was skipped."""
        return sum(bool(response.answer.cached_tokens) for response in self.responses)

    @property
    def expected_hits(self) -> int:
        """Responses for which something should have been."""
        return sum(bool(response.expected_cached_tokens) for response in self.responses)

    @property
    def unreached(self) -> tuple[Response, ...]:
        """Responses whose number of cached tokens is not the computed one."""
        return tuple(response for response in self.responses if not response.reached)

    @property
    def verdict(self) -> ArmVerdict:
        """The gravest finding; "reach" when all answers are equal but the cache did not do what it should have done."""
        if self.error is not None or self.count("error"):
            return "error"
        if self.count("text") or self.count("bits"):
            return "differs"
        if self.count("missing"):
            return "missing"
        return "reach" if self.unreached else "pass"

    @property
    def ttft_ms_p50(self) -> float | None:
        """Median time to first token, milliseconds."""
        return median_ms([response.answer.ttft_s for response in self.responses])

    @property
    def hit_ttft_ms_p50(self) -> tuple[float, float] | None:
        """Of the hits alone: median time to first token here, and of the same requests in the reference arm."""
        hits = [response for response in self.responses if response.answer.cached_tokens]
        warm = median_ms([response.answer.ttft_s for response in hits])
        cold = median_ms([response.reference_ttft_s for response in hits])
        return None if warm is None or cold is None else (warm, cold)

    def to_record(self) -> dict[str, Any]:
        """As JSON holds it."""
        warm, cold = self.hit_ttft_ms_p50 or (None, None)
        return {
            "name": self.arm.name,
            "setting": self.arm.setting,
            "flags": list(self.arm.flags),
            "concurrency": self.arm.concurrency,
            "verdict": self.verdict,
            "responses": len(self.responses),
            "text_differs": self.count("text"),
            "bits_differ": self.count("bits"),
            "missing": self.count("missing"),
            "errors": self.count("error"),
            "unreached": len(self.unreached),
            "cached_tokens": self.cached_tokens,
            "expected_cached_tokens": self.expected_cached_tokens,
            "hits": self.hits,
            "expected_hits": self.expected_hits,
            "ttft_ms_p50": self.ttft_ms_p50,
            "hits_ttft_ms_p50": warm,
            "hits_reference_ttft_ms_p50": cold,
            "start_s": round(self.start_s, 2),
            "seconds": round(self.seconds, 2),
            "error": self.error,
            "details": [response.to_record() for response in self.responses],
        }


@dataclass(frozen=True, slots=True)
class GateReport:
    """The run. planned: names of the arms that were to run. error: why it ended before all had."""

    arms: tuple[ArmResult, ...]
    planned: tuple[str, ...]
    batteries: tuple[str, ...]
    model: str = ""
    version: str = ""
    build: dict[str, str] = field(default_factory=dict)
    error: str | None = None
    deterministic: bool = True
    logs: str | None = None

    @property
    def passed(self) -> bool:
        """Every planned arm has run and passed."""
        ran = tuple(result.arm.name for result in self.arms)
        return self.error is None and ran == self.planned and all(result.verdict == "pass" for result in self.arms)

    @property
    def exit_code(self) -> int:
        """0: passed. 1: red, something was compared and is not as it should be. 2: it could not be carried out."""
        if self.passed:
            return 0
        red = any(result.verdict in ("differs", "missing", "reach") for result in self.arms)
        return 1 if red or not self.deterministic else 2

    def to_record(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "schema": SCHEMA,
            "pass": self.passed,
            "exit_code": self.exit_code,
            "deterministic": self.deterministic,
            "error": self.error,
            "model": self.model,
            "version": self.version,
            "build": self.build,
            "batteries": list(self.batteries),
            "planned": list(self.planned),
            "arms": [result.to_record() for result in self.arms],
            "logs": self.logs,
        }


def median_ms(seconds: list[float | None]) -> float | None:
    """The median in milliseconds of the values that are there, to a hundredth; None when there are none."""
    known = [value for value in seconds if value is not None]
    return _ms(statistics.median(known)) if known else None


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1e3, 2)
