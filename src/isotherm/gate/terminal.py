"""The run in the terminal: a table that grows by a row as each arm finishes, then what is to be known of the red ones."""

from dataclasses import dataclass, field

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from isotherm.gate.arms import Arm
from isotherm.gate.columns import COLUMNS, NOT_KNOWN, SETTING, VERDICT, Column
from isotherm.gate.compare import Difference
from isotherm.gate.findings import faults, headline, tally, where
from isotherm.gate.report import GateReport
from isotherm.gate.result import ArmResult
from isotherm.gate.safe import plain, plain_lines

_WIDEST_SETTING = 48
_LONG_BUILD = 32  # compiler and flags are in the JSON


@dataclass(slots=True)
class TerminalObserver:
    """Prints each arm's row when the arm is finished, and its progress before (on a terminal only)."""

    console: Console
    _progress: Progress | None = field(default=None, init=False)
    _task: TaskID = field(default=TaskID(0), init=False)
    _first: bool = field(default=True, init=False)

    def arm_started(self, arm: Arm, total: int) -> None:
        """Show the arm's progress."""
        if self._first:
            shown, _ = layout(self.console.width)
            self.console.print(_line(shown, tuple(Text(column.name, style="bold") for column, _ in shown)))
            self._first = False
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._progress = Progress(*columns, console=self.console, transient=True, disable=not self.console.is_terminal)
        self._task = self._progress.add_task(plain(f"{arm.name}: {arm.setting}"), total=total)
        self._progress.start()

    def answered(self, arm: Arm, done: int) -> None:
        """Move the bar."""
        if self._progress is not None:
            self._progress.update(self._task, completed=done)

    def arm_finished(self, result: ArmResult) -> None:
        """Print the arm's row, and below it what the terminal is too narrow for."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
        shown, left = layout(self.console.width)
        self.console.print(_line(shown, tuple(_cell(column, result) for column, _ in shown)))
        if more := "; ".join(_told(column, result) for column in left if column.value(result) not in ("", NOT_KNOWN)):
            self.console.print(Padding(Text(plain(more), style="dim"), (0, 0, 0, 2)))


Shown = tuple[tuple[Column, int], ...]


def layout(width: int) -> tuple[Shown, tuple[Column, ...]]:
    """The columns that fit into `width` characters, with their widths, and those that do not."""
    shown = list(COLUMNS)
    while _needed(shown) > width and any(column.leaves for column in shown):
        shown.remove(max(shown, key=lambda column: column.leaves))
    spare = width - _needed(shown)
    widths = tuple((c, min(c.width + spare, _WIDEST_SETTING) if c is SETTING else c.width) for c in shown)
    return widths, tuple(column for column in COLUMNS if column not in shown)


def _needed(columns: list[Column]) -> int:
    return sum(column.width + 1 for column in columns) - 1


def _line(shown: Shown, cells: tuple[Text, ...]) -> Table:
    """One row of the table. Widths are fixed, so that rows printed apart stand in columns."""
    table = Table.grid(padding=(0, 1), pad_edge=False)
    for column, width in shown:
        table.add_column(width=width, justify="right" if column.number else "left", overflow="fold")
    table.add_row(*cells)
    return table


def _cell(column: Column, result: ArmResult) -> Text:
    text = Text(plain(column.value(result)))
    if column is VERDICT:
        text.stylize(_style(result))
    return text


def _style(result: ArmResult) -> str:
    """Red is what differs; bold red is what also fails the run."""
    if result.verdict == "pass":
        return "green"
    return "bold red" if result.exit_code else "red"


def _told(column: Column, result: ArmResult) -> str:
    return column.value(result) if column is SETTING else f"{column.name} {column.value(result)}"


def print_report(report: GateReport, console: Console) -> None:
    """What the rows do not say: speed of the hits, the faults of every red arm, the build, the outcome."""
    console.print()
    for result in report.arms:
        _print_speed(report, result, console)
    for result in report.arms:
        _print_faults(report, result, console)
    for words in report.not_compared:
        _say(console, f"not compared: {words}", "yellow")
    if report.build:
        _say(console, "build: " + ", ".join(f"{k} {v}" for k, v in report.build.items() if len(v) <= _LONG_BUILD))
    if report.error is not None:
        _say(console, report.error, "bold red")
    if report.logs is not None:
        _say(console, f"server logs: {report.logs}")
    _say(console, headline(report), "bold green" if report.passed else "bold red")


def _say(console: Console, text: str, style: str = "") -> None:
    """A line or more; whatever a server wrote is in it, it is shown and does nothing."""
    console.print(Text(plain_lines(text), style=style))


def _print_speed(report: GateReport, result: ArmResult, console: Console) -> None:
    warm, cold, reference = result.ttft_warm, result.ttft_cold, report.reference_of(result)
    if result.arm.concurrency > 1 or warm is None or cold is None or reference is None or not warm.p50:
        return
    _say(
        console,
        f"{result.arm.name}: median time to first token of hits ({result.hits}) {_time(warm.p50)}, of the same "
        f"requests in {reference.arm.name} {_time(cold.p50)}: {cold.p50 / warm.p50:.1f} times faster",
    )


def _time(milliseconds: float) -> str:
    return f"{milliseconds:.1f} ms" if milliseconds < 1000 else f"{milliseconds / 1e3:.2f} s"


def _print_faults(report: GateReport, result: ArmResult, console: Console) -> None:
    """The arm's own error, its verdicts, the first response with the gravest of them, and what else is wrong with it.

    Of an arm that may differ, only the first difference is shown.
    """
    if result.error is not None:
        _say(console, f"{result.arm.name}: {result.error}", "red")
    if worst := result.worst:
        reference = report.reference_of(result)
        beside = "" if reference is None else f" against {reference.arm.name}"
        story = f"{tally(result)}; the gravest is {where(worst)} ({worst.verdict})"
        _say(console, f"{result.arm.name}{beside}: {story}", "red")
        _print_differences(worst.comparison.differences[: None if result.exit_code else 1], console)
    for words in faults(result):
        _say(console, f"{result.arm.name}: {words}", "red")


def _print_differences(differences: tuple[Difference, ...], console: Console) -> None:
    for difference in differences:
        console.print(Text(plain(f"  {difference.heading}")))
        sides = Table.grid(padding=(0, 2, 0, 0))
        sides.add_column(width=12, justify="right")
        sides.add_column(overflow="fold")
        sides.add_row(Text("expected"), Text(plain(difference.expected)))
        sides.add_row(Text("got"), Text(plain(difference.actual)))
        console.print(sides)
