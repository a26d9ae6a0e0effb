"""The requests of a run in the one order in which every arm sends them."""

from collections.abc import Sequence
from dataclasses import dataclass

from isotherm.core.errors import ConfigError
from isotherm.gate.bfcl import load_bfcl
from isotherm.gate.case import Case, load_battery

BATTERIES = ("a", "b", "c", "repro")
"""Ours, in the order in which `all` sends them."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One turn of one case: a request that every arm makes. turn: from 0."""

    case: Case
    turn: int


def expand(names: Sequence[str]) -> tuple[str, ...]:
    """The batteries meant by `names`: "all" stands for every one of ours. None is sent twice."""
    every = [battery for name in names for battery in (BATTERIES if name == "all" else (name,))]
    return tuple(dict.fromkeys(every))


def cases_of(name: str) -> tuple[Case, ...]:
    """The cases of a battery: one of ours, a JSONL file's, or those of bfcl ("bfcl:5" for five of each category).

    Raises ConfigError.
    """
    kind, _, limit = name.partition(":")
    if kind != "bfcl":
        return load_battery(name)
    if limit and not (limit.isdecimal() and int(limit)):
        raise ConfigError("battery", f"expected a number of cases after bfcl:, got {limit!r}")
    return load_bfcl(int(limit or 0))


def ordered_slots(batteries: Sequence[str]) -> tuple[Slot, ...]:
    """Battery by battery: all first turns in the file's order, then all second turns, and so on.

    So the turns of a case are far apart, and requests sent at once seldom wait for one another.
    Raises ConfigError for a battery that cannot be read, and for two cases with one id.
    """
    slots: list[Slot] = []
    for name in expand(batteries):
        cases = cases_of(name)
        for turn in range(max((case.turns for case in cases), default=0)):
            slots += [Slot(case, turn) for case in cases if turn < case.turns]
    if not slots:
        raise ConfigError("battery", "there are no cases in it")
    ids = [slot.case.id for slot in slots if slot.turn == 0]
    if twice := sorted({case_id for case_id in ids if ids.count(case_id) > 1}):
        raise ConfigError("battery", f"two cases have the same id: {', '.join(twice[:3])}")
    return tuple(slots)
