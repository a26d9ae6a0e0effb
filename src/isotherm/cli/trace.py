"""`isotherm trace`: look at traces, and find where two first differ."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isotherm.cli import options
from isotherm.core.errors import TraceError

if TYPE_CHECKING:
    from isotherm.trace.comparison import Comparison
    from isotherm.trace.pairs import Pairs

app = typer.Typer(help="Look at traces of requests (docs/trace.md).", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Look at traces of requests (docs/trace.md)."""


@app.command()
def show(file: Annotated[Path, typer.Argument(help="A trace, finished or not.")]) -> None:
    """Print what a trace holds, hashes apart."""
    from isotherm.trace.describe import summary_lines
    from isotherm.trace.reader import read_trace

    for line in summary_lines(read_trace(file)):
        typer.echo(line)


@app.command()
def diff(
    a: Annotated[Path, typer.Argument(help="A trace, or a folder of traces.")],
    b: Annotated[Path, typer.Argument(help="The same, to compare it with.")],
    html: Annotated[
        str | None,
        typer.Option(metavar="FILE", callback=options.writable, help="Draw layers by positions here, as one page."),
    ] = None,
    json_file: options.Json = None,
    any_build: Annotated[bool, typer.Option("--any-build", help="Compare although the builds differ.")] = False,
    prefix: Annotated[
        bool, typer.Option("--prefix", help="Compare although the prompts differ, as far as they agree.")
    ] = False,
) -> None:
    """Name the first value that differs. Exit code 0 equal, 1 different, 2 when something could not be compared."""
    from isotherm.trace.export import to_record
    from isotherm.trace.pairs import pair_up

    pairs, comparisons, failed = pair_up(a, b), [], False
    for comparison in _compared(pairs, any_build, prefix):
        if isinstance(comparison, TraceError):
            typer.secho(str(comparison), fg=typer.colors.RED, err=True)
            failed = True
        else:
            comparisons.append(comparison)
            if a.is_dir():
                typer.echo(_line(comparison))
    _tell(pairs, comparisons, html, several=a.is_dir())
    if json_file:
        record: dict[str, Any] = {"comparisons": [to_record(item) for item in comparisons]}
        record |= {"only_a": list(pairs.only_a), "only_b": list(pairs.only_b)}
        Path(json_file).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    incomplete = failed or bool(pairs.only_a or pairs.only_b)
    raise typer.Exit(1 if not all(item.equal for item in comparisons) else 2 if incomplete else 0)


def _tell(pairs: "Pairs", comparisons: "list[Comparison]", html: str | None, *, several: bool) -> None:
    """Those without a counterpart, then the first pair that differs, or else the first."""
    from isotherm.trace.describe import comparison_lines
    from isotherm.trace.page import page
    from isotherm.trace.printable import printable

    for side, names in (("A", pairs.only_a), ("B", pairs.only_b)):
        for name in names:
            typer.echo(f"only in {side}  {printable(name)}")
    shown = min(comparisons, key=lambda item: item.equal, default=None)
    if shown is None:
        return
    text = "\n".join(comparison_lines(shown, pairs.all_a, pairs.all_b))
    if not several or not shown.equal:
        typer.echo("\n" * several + text)
    if html:
        Path(html).write_text(page(shown, text), encoding="utf-8")


def _compared(pairs: "Pairs", any_build: bool, prefix: bool) -> "Iterator[Comparison | TraceError]":
    from isotherm.trace.comparison import compare

    for mine, theirs in pairs.matched:
        try:
            yield compare(mine, theirs, any_build=any_build, prefix=prefix)
        except TraceError as error:
            yield error


def _line(comparison: "Comparison") -> str:
    from isotherm.trace.describe import place
    from isotherm.trace.first import first_difference
    from isotherm.trace.printable import printable

    first = first_difference(comparison)
    verdict = "equal" if first is None else f"different, first at {place(first, comparison.layers)}"
    return f"{printable(comparison.a.trace.name)}  {printable(comparison.b.trace.name)}  {verdict}"
