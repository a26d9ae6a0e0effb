"""`--numerics` and the switches of native numerics: the same group for every command that loads a model."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Annotated, Any, cast, get_args

import typer
from typer.core import TyperCommand

from isotherm.core.constants import BLOCK
from isotherm.core.errors import ConfigError
from isotherm.core.numerics import NativeConfig, Numerics

PREFIX = "native_"
GROUP = "Native numerics (measures exactness; docs/native.md)"


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was typed of the group."""

    numerics: Numerics = "exact"
    native: NativeConfig = field(default_factory=NativeConfig)


EXACT = Chosen()

_SWITCHES: dict[str, Any] = {
    "native_tail_split": Annotated[
        bool | None,
        typer.Option("--native-tail-split", help="A prompt's last pass begins at floor((N-1)/16)*16-16."),
    ],
    "native_restore": Annotated[
        str | None, typer.Option(help="deepest (default), below or never: the snapshot from which a hit goes on.")
    ],
    "native_kv": Annotated[
        str | None, typer.Option(help="recompute (default) or reuse: KV between snapshot and match.")
    ],
    "native_match_unit": Annotated[
        int | None, typer.Option(help=f"{BLOCK} (default) or 1: whole blocks, or tokens of the next block too.")
    ],
    "native_replay": Annotated[
        str | None, typer.Option(help="chunked (default) or sequential: the kernel between snapshot and match.")
    ],
    "native_drafter_anchor": Annotated[
        bool | None,
        typer.Option(
            "--native-drafter-anchor", help="Keep the model's rows of a prefix with its snapshot, for the drafter."
        ),
    ],
    "native_drafter_anchor_bytes": Annotated[
        int | None, typer.Option(metavar="N", help="How much these may take; 1073741824 by default.")
    ],
    "native_grid": Annotated[
        int | None, typer.Option(metavar="G", help="Passes end and snapshots are at multiples of G; 0 (default): none.")
    ],
    "native_fine_grid": Annotated[
        int | None, typer.Option(metavar="F", help="And of F past the last multiple of G below the prompt's end.")
    ],
}


def takes_numerics(command: Callable[..., None]) -> Callable[..., None]:
    """For a command with a parameter `numerics: Chosen`: the same, with the group's options in its place."""

    @wraps(command)
    def wrapped(**typed: Any) -> None:
        switches = {name: typed.pop(name) for name in _SWITCHES}
        command(**typed | {"numerics": choose(typed["numerics"], switches)})

    kind = inspect.Parameter.KEYWORD_ONLY
    own = [
        parameter.replace(kind=kind)
        for name, parameter in inspect.signature(command).parameters.items()
        if name != "numerics"
    ]
    numerics = Annotated[str, typer.Option(help="exact, or native: torch's kernels and the switches below.")]
    added = [inspect.Parameter("numerics", kind, default="exact", annotation=numerics)]
    added += [inspect.Parameter(name, kind, default=None, annotation=option) for name, option in _SWITCHES.items()]
    wrapped.__signature__ = inspect.Signature(own + added)  # type: ignore[attr-defined]
    return wrapped


def choose(numerics: str, switches: dict[str, Any]) -> Chosen:
    """Switches that are None were not typed. Raises ConfigError naming the flag that cannot be honoured."""
    given = {name: value for name, value in switches.items() if value is not None}
    if numerics not in get_args(Numerics):
        raise ConfigError("--numerics", f"must be one of {', '.join(get_args(Numerics))}, got {numerics!r}")
    if numerics == "exact" and given:
        flag = "--" + next(iter(given)).replace("_", "-")
        raise ConfigError(flag, "is a switch of --numerics native; exact mode has no such choice")
    native = NativeConfig(**{name.removeprefix(PREFIX): value for name, value in given.items()})
    return Chosen(cast(Numerics, numerics), native)


class GroupedCommand(TyperCommand):
    """Shows the group apart in the help."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, options, and the group."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], GROUP: []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                native = str(param.name).startswith(PREFIX) or param.name == "numerics"
                argument = param.param_type_name == "argument"
                sections["Arguments" if argument else GROUP if native else "Options"].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
