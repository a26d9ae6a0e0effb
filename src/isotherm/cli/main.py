"""`isotherm`: the commands, and how their errors are shown."""

import sys
from typing import Annotated

import typer

from isotherm.cli import bench, chat, checkpoint, doctor, evaluate, fuzz, gate, generate, plan, serve, trace
from isotherm.cli.native_options import GroupedCommand
from isotherm.core.errors import IsothermError
from isotherm.core.version import VERSION

app = typer.Typer(
    name="isotherm",
    help="Serve hybrid language models; how a token was computed never changes what it is.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command(cls=serve.PastedCommand)(serve.serve)
app.command(cls=GroupedCommand)(chat.chat)
app.command(cls=GroupedCommand)(generate.generate)
app.command()(gate.gate)
app.command()(bench.bench)
app.command("eval")(evaluate.evaluate)
app.command()(fuzz.fuzz)
app.command()(doctor.doctor)
app.command()(plan.plan)
app.add_typer(checkpoint.app, name="checkpoint")
app.add_typer(trace.app, name="trace")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"isotherm {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options before the command."""


def main() -> None:
    """Entry point. A deliberate error is one line and exit code 2; anything else is a bug and shows its trace."""
    try:
        app()
    except IsothermError as error:
        typer.secho(f"isotherm: {error}", fg=typer.colors.RED, err=True)
        sys.exit(2)
