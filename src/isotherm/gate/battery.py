"""The requests of a run in the one order in which every arm sends them."""

from dataclasses import dataclass

from isotherm.core.errors import ConfigError
from isotherm.gate.case import Case, load_battery


@dataclass(frozen=True, slots=True)
class Slot:
    """One turn of one case: a request that every arm makes. turn: from 0."""

    case: Case
    turn: int


def ordered_slots(batteries: tuple[str, ...]) -> tuple[Slot, ...]:
    """Battery by battery: all first turns in the file's order, then all second turns, and so on.

    So the turns of a case are far apart, and requests sent at once seldom wait for one another.
    Raises ConfigError for a battery that cannot be read.
    """
    slots: list[Slot] = []
    for name in batteries:
        cases = load_battery(name)
        for turn in range(max((case.turns for case in cases), default=0)):
            slots += [Slot(case, turn) for case in cases if turn < case.turns]
    if not slots:
        raise ConfigError("battery", "there are no cases in it")
    return tuple(slots)
