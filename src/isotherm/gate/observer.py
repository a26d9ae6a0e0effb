"""Who watches a run."""

from typing import Protocol

from isotherm.gate.arms import Arm
from isotherm.gate.result import ArmResult


class Observer(Protocol):
    """Is told what happens while it happens."""

    def arm_started(self, arm: Arm, total: int) -> None:
        """The arm begins; `total` responses will come."""

    def answered(self, arm: Arm, done: int) -> None:
        """`done` of the arm's responses have come."""

    def arm_finished(self, result: ArmResult) -> None:
        """The arm is over."""


class Silent:
    """An observer that does nothing."""

    def arm_started(self, arm: Arm, total: int) -> None:
        """Nothing."""

    def answered(self, arm: Arm, done: int) -> None:
        """Nothing."""

    def arm_finished(self, result: ArmResult) -> None:
        """Nothing."""
