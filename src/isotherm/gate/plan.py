"""From what was asked for to the arms of a run."""

from dataclasses import dataclass, replace

from isotherm.core.errors import ConfigError
from isotherm.gate.arm_rules import checked, with_control
from isotherm.gate.arms import CONCURRENCY, FIRST_FORM, Arm, budget_arms
from isotherm.gate.arms_file import read_arms
from isotherm.gate.drafts import DRAFTS
from isotherm.gate.published import PUBLISHED
from isotherm.gate.targets import target

NAMED = {"published": PUBLISHED, "drafts": DRAFTS}
"""Arms of our own server that --arms knows by name."""


@dataclass(frozen=True, slots=True)
class ArmOptions:
    """What a user may say about arms; all of it together is one command line.

    off, on: URLs. off_cmd, on_cmd: launch commands; with a URL beside it, that is where the server answers.
    arms: a TOML file, or a name in NAMED. concurrency: 0 for the default, which is 8 for our own server and 1 for others. repeat,
    pressure: see Arm.
    full: more arms of our own server.
    """

    off: str = ""
    on: str = ""
    off_cmd: str = ""
    on_cmd: str = ""
    arms: str = ""
    concurrency: int = 0
    repeat: int = 1
    pressure: int = 0
    full: bool = False

    @property
    def ours(self) -> bool:
        """Whether the arms are the usual ones of our own server."""
        return not (self.arms or self.off or self.on or self.off_cmd or self.on_cmd)


def plan(options: ArmOptions) -> tuple[Arm, ...]:
    """The arms, the reference first and its control second. Raises ConfigError for options that do not go together."""
    if options.full and not options.ours:
        raise ConfigError("full", "its arms are settings of our own server; name yours in a file for --arms")
    if options.arms in NAMED:
        return checked(_named(options))
    if options.arms:
        return checked(with_control(_from_file(options)))
    return checked(_repeated(_own(options) if options.ours else _two_servers(options), options.repeat))


def _from_file(options: ArmOptions) -> tuple[Arm, ...]:
    if options != ArmOptions(arms=options.arms):
        raise ConfigError(
            "arms", "the file says it all: servers, concurrency, repeat and pressure are an arm's own there"
        )
    return read_arms(options.arms)


def _named(options: ArmOptions) -> tuple[Arm, ...]:
    if options != ArmOptions(arms=options.arms):
        raise ConfigError("arms", f"the {options.arms} arms have their own servers, concurrency and repeats")
    return NAMED[options.arms]


def _own(options: ArmOptions) -> tuple[Arm, ...]:
    at_once = options.concurrency or CONCURRENCY
    alone = tuple(arm for arm in FIRST_FORM if arm.concurrency == 1)
    on = next(arm for arm in alone if arm.caching)
    arms = alone + _at_once(alone[0], on, at_once) + _pressed(on, options.pressure)
    return arms + (budget_arms(64) + budget_arms(500) if options.full else ())


def _two_servers(options: ArmOptions) -> tuple[Arm, ...]:
    off = Arm("off", "caching off", target=target("off", options.off, options.off_cmd))
    on = Arm("on", "caching on", target=target("on", options.on, options.on_cmd), caching=True)
    if off.target == on.target:
        raise ConfigError("on", "it is the same server as off, so nothing would be tested")
    return with_control((off, on, *_at_once(off, on, options.concurrency), *_pressed(on, options.pressure)))


def _at_once(off: Arm, on: Arm, concurrency: int) -> tuple[Arm, ...]:
    """Both settings with several requests at once; the one with caching off shows what batching alone does."""
    if concurrency <= 1:
        return ()
    twin = replace(off, name=f"off-{concurrency}", setting=f"off, {concurrency} at once", concurrency=concurrency)
    setting = f"on, {concurrency} at once"
    return twin, replace(on, name=f"on-{concurrency}", setting=setting, concurrency=concurrency, twin=twin.name)


def _pressed(on: Arm, pressure: int) -> tuple[Arm, ...]:
    name, setting = "on-pressure", f"on, {pressure} fillers"
    return (replace(on, name=name, setting=setting, pressure=pressure),) if pressure else ()


def _repeated(arms: tuple[Arm, ...], repeat: int) -> tuple[Arm, ...]:
    """Every arm but the reference, which is recorded once, repeats the battery."""
    again = (arm if arm.kind == "rescore" else replace(arm, repeat=repeat) for arm in arms[1:])
    return (arms[0], *again)
