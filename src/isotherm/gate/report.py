"""The run as a whole: every arm's result, and what they come to."""

from dataclasses import dataclass, field
from typing import Any

from isotherm.gate.record import SCHEMA, arm_record
from isotherm.gate.result import ArmResult, Response


@dataclass(frozen=True, slots=True)
class GateReport:
    """The run. planned: names of the arms that were to run. error: why it ended before all had.

    command: the words of the command line that ran it. logs: the folder of the servers' logs, when they were kept.
    """

    arms: tuple[ArmResult, ...]
    planned: tuple[str, ...]
    batteries: tuple[str, ...]
    model: str = ""
    version: str = ""
    build: dict[str, str] = field(default_factory=dict)
    error: str | None = None
    deterministic: bool = True
    logs: str | None = None
    command: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every planned arm has run."""
        return self.error is None and tuple(result.arm.name for result in self.arms) == self.planned

    @property
    def passed(self) -> bool:
        """Every planned arm has run and is as it should be."""
        return self.complete and all(result.exit_code == 0 for result in self.arms)

    @property
    def exit_code(self) -> int:
        """0: passed. 1: red, something was compared and is not as it should be. 2: it could not be carried out."""
        if self.passed:
            return 0
        return 1 if not self.deterministic or any(result.exit_code == 1 for result in self.arms) else 2

    @property
    def not_compared(self) -> tuple[str, ...]:
        """What could not be compared, each once."""
        return tuple(dict.fromkeys(words for result in self.arms for words in result.not_compared))

    def arm(self, name: str) -> ArmResult | None:
        """The result of the arm of this name."""
        return next((result for result in self.arms if result.arm.name == name), None)

    def reference_of(self, result: ArmResult) -> ArmResult | None:
        """The result of the arm that `result` is compared with; None for one that is compared with nothing."""
        name = result.arm.against or (self.arms[0].arm.name if self.arms else "")
        return None if name == result.arm.name else self.arm(name)

    def counterpart(self, result: ArmResult, response: Response) -> Response | None:
        """The response that `response` of `result` was compared with."""
        reference = self.reference_of(result)
        if reference is None:
            return None
        case, turn, repeat = response.key
        same = {other.repeat: other for other in reference.responses if (other.case, other.turn) == (case, turn)}
        return same.get(repeat) or same.get(0)

    def to_record(self) -> dict[str, Any]:
        """The report as JSON holds it; report.schema.json describes it."""
        return {
            "schema": SCHEMA,
            "pass": self.passed,
            "exit_code": self.exit_code,
            "deterministic": self.deterministic,
            "error": self.error,
            "model": self.model,
            "version": self.version,
            "build": self.build,
            "command": list(self.command),
            "batteries": list(self.batteries),
            "planned": list(self.planned),
            "not_compared": list(self.not_compared),
            "arms": [arm_record(result) for result in self.arms],
            "logs": self.logs,
        }
