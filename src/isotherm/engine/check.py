"""What a self-check says."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. detail: what was measured."""

    name: str
    passed: bool
    detail: str
