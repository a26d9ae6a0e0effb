"""Whether arms can be run in the order they are in."""

import re
from dataclasses import replace

from isotherm.core.errors import ConfigError
from isotherm.gate.arms import Arm


def with_control(arms: tuple[Arm, ...]) -> tuple[Arm, ...]:
    """The arms with a control after the first, unless one of them is one: the first again, which must be equal to it."""
    if not arms or any(arm.control for arm in arms):
        return arms
    first = arms[0]
    setting = "control" if first.fresh else "control, asked again"
    return (first, replace(first, name=f"{first.name} again", setting=setting, control=True), *arms[1:])


def checked(arms: tuple[Arm, ...]) -> tuple[Arm, ...]:
    """The arms as they are. Raises ConfigError naming the one that cannot be run as it is."""
    if not arms:
        raise ConfigError("arms", "there are none")
    first = arms[0]
    if (first.kind, first.concurrency, first.repeat, first.pressure, first.control) != ("chat", 1, 1, 0, False):
        raise ConfigError(
            "arms", f"{first.name!r} comes first, so it is the reference: one request at a time, sent once"
        )
    earlier: set[str] = set()
    files: set[str] = set()
    for arm in arms:
        if not arm.name or log_name(arm) in files:
            raise ConfigError("arms", f"{arm.name!r}: every arm needs a name of its own")
        for other in (arm.twin, arm.against if arm.against != arm.name else None):
            if other is not None and other not in earlier:
                raise ConfigError("arms", f"{arm.name!r}: {other!r} is no arm before it")
        if min(arm.concurrency, arm.repeat, arm.pressure + 1) < 1:
            raise ConfigError("arms", f"{arm.name!r}: concurrency and repeat are at least 1, pressure at least 0")
        earlier.add(arm.name)
        files.add(log_name(arm))
    return arms


def log_name(arm: Arm) -> str:
    """The name of the file that its server's output goes to."""
    return re.sub(r"\W+", "-", arm.name) + ".log"
