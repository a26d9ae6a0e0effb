"""Times to first token: the median and the 95th percentile of those that are known."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Times:
    """p50, p95: milliseconds, to a hundredth; by nearest rank, so that each is a time that was measured. count: of how many."""

    p50: float
    p95: float
    count: int

    def to_record(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"p50": self.p50, "p95": self.p95, "count": self.count}


def times(seconds: Iterable[float | None]) -> Times | None:
    """Of the values that are there; None when there are none."""
    known = sorted(value for value in seconds if value is not None)
    if not known:
        return None
    return Times(milliseconds(_rank(known, 0.5)), milliseconds(_rank(known, 0.95)), len(known))


def milliseconds(seconds: float) -> float:
    """To a hundredth."""
    return round(seconds * 1e3, 2)


def _rank(ordered: list[float], share: float) -> float:
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]
