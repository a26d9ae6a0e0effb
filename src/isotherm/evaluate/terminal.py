"""The evaluation in the terminal: progress, the table of figures against their bars, and some of what went wrong."""

from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from isotherm.evaluate.result import MEANINGS, EvalReport, Figure
from isotherm.gate.safe import plain


@dataclass(slots=True)
class EvalProgress:
    """A bar, on a terminal only."""

    console: Console
    _progress: Progress | None = field(default=None, init=False)
    _task: TaskID = field(default=TaskID(0), init=False)

    def opened(self, cases: int) -> None:
        """The model is loaded."""
        columns = (TextColumn("answering"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=self.console, transient=True, disable=not self.console.is_terminal)
        self._task = self._progress.add_task("", total=cases)
        self._progress.start()

    def advance(self, _: object) -> None:
        """A case has been answered."""
        if self._progress is not None:
            self._progress.advance(self._task)

    def close(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()


def print_report(report: EvalReport, console: Console, show: int = 0) -> None:
    """The table; `show` cases of each group that are not right; the verdict in a line."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, justify in (
        ("figure", "left"),
        ("right", "right"),
        ("fraction", "right"),
        ("bar", "right"),
        ("", "left"),
    ):
        table.add_column(name, justify="right" if justify == "right" else "left", no_wrap=True)
    table.add_column("counts", no_wrap=True)
    for figure in report.figures():
        table.add_row(*_cells(figure))
    console.print(table)
    if report.drafter != "measured":
        console.print(Text(f"drafter not measured: {plain(report.drafter)}"), soft_wrap=True)
    if show:
        _print_wrong(report, console, show)
    console.print(f"{len(report.rows)} cases in {report.seconds:.0f} s, build {report.build.get('id', '?')}")
    missed = [figure.name for figure in report.figures() if not figure.met]
    console.print(
        Text(f"below the bar: {', '.join(missed)}", style="red") if missed else Text("every bar is met", style="green")
    )


def _cells(figure: Figure) -> tuple[Text, ...]:
    fraction = "-" if figure.fraction is None else f"{figure.fraction:.3f}"
    verdict = (
        Text("not measured", "dim")
        if figure.fraction is None
        else Text("met", "green")
        if figure.met
        else Text("missed", "red")
    )
    return (
        Text(plain(figure.name, 40)),
        Text(f"{figure.right}/{figure.total}"),
        Text(fraction),
        Text("" if figure.bar is None else f"{figure.bar:.2f}"),
        verdict if figure.bar is not None else Text(),
        Text(MEANINGS.get(figure.name, ""), "dim"),
    )


def _print_wrong(report: EvalReport, console: Console, show: int) -> None:
    shown: dict[str, int] = {}
    for row in report.rows:
        if row.reason is None or shown.get(row.group, 0) >= show:
            continue
        shown[row.group] = shown.get(row.group, 0) + 1
        console.print(Text.assemble((plain(row.id, 60), "bold"), " ", plain(row.reason)), soft_wrap=True)
        if row.answer.text.strip():
            console.print(Text(f"  said: {plain(row.answer.text)}"), soft_wrap=True)
