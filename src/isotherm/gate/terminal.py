"""The run in the terminal: a table that grows by a row as each arm finishes, then what is to be known of the red ones."""

import unicodedata
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from isotherm.gate.arms import Arm
from isotherm.gate.report import GateReport
from isotherm.gate.result import ArmResult, Response

_COLUMNS = (
    ("arm", 9, "left"),
    ("setting", 14, "left"),
    ("resp.", 5, "right"),
    ("text≠", 5, "right"),
    ("bits≠", 5, "right"),
    ("hits", 5, "right"),
    ("cached", 11, "right"),
    ("TTFT p50", 8, "right"),
    ("verdict", 7, "left"),
)
_LONGEST = 1200
_LONG_BUILD = 32  # compiler and flags are in the JSON


def plain(text: str, longest: int = _LONGEST) -> str:
    """A server's text, safe to print: control, format and private characters are escaped, and the rest is cut short."""
    shown = "".join(f"\\u{ord(c):04x}" if unicodedata.category(c).startswith("C") else c for c in text[: longest + 1])
    return shown if len(text) <= longest else shown[:longest] + "…"


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
            self.console.print(_line(tuple(Text(name, style="bold") for name, _, _ in _COLUMNS)))
            self._first = False
        columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=self.console, transient=True, disable=not self.console.is_terminal)
        self._task = self._progress.add_task(f"{arm.name}: {arm.setting}", total=total)
        self._progress.start()

    def answered(self, arm: Arm, done: int) -> None:
        """Move the bar."""
        if self._progress is not None:
            self._progress.update(self._task, completed=done)

    def arm_finished(self, result: ArmResult) -> None:
        """Print the arm's row."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
        self.console.print(_line(_cells(result)))


def _line(cells: tuple[Text, ...]) -> Table:
    """One row of the table. Widths are fixed, so that rows printed apart stand in columns."""
    table = Table.grid(padding=(0, 1), pad_edge=False)
    for _, width, justify in _COLUMNS:
        table.add_column(width=width, justify="right" if justify == "right" else "left", overflow="fold")
    table.add_row(*cells)
    return table


def _cells(result: ArmResult) -> tuple[Text, ...]:
    ttft = None if result.ttft is None else result.ttft.p50
    style = "green" if result.verdict == "pass" else "red"
    verdict = result.verdict
    numbers = (
        str(len(result.responses)),
        str(result.text_differs),
        str(result.count("bits")),
        f"{result.hits}/{result.expected_hits}",
        f"{result.cached_tokens}/{result.expected_cached_tokens}",
        "" if ttft is None else _time(ttft),
    )
    return (Text(result.arm.name), Text(result.arm.setting), *map(Text, numbers), Text(verdict, style=style))


def _time(milliseconds: float) -> str:
    return f"{milliseconds:.1f} ms" if milliseconds < 1000 else f"{milliseconds / 1e3:.2f} s"


def print_report(report: GateReport, console: Console) -> None:
    """What the rows do not say: speed of the hits, the first fault of every red arm, the build, the outcome."""
    console.print()
    for result in report.arms:
        if result.ttft_warm and result.ttft_cold and result.arm.concurrency == 1:
            warm, cold = result.ttft_warm.p50, result.ttft_cold.p50
            times = f"{_time(warm)}, with caching off {_time(cold)}: {cold / warm:.1f} times faster" if warm else "0"
            console.print(Text(f"{result.arm.name}: time to first token of the {result.hits} hits {times}"))
    for result in report.arms:
        _print_faults(result, console)
    if report.build:
        build = ", ".join(f"{key} {value}" for key, value in report.build.items() if len(value) <= _LONG_BUILD)
        console.print(Text(f"build: {plain(build)}"))
    if report.error is not None:
        console.print(Text(report.error, style="bold red"))
    if report.logs is not None:
        console.print(Text(f"server logs: {report.logs}"))
    console.print(_outcome(report))


def _outcome(report: GateReport) -> Text:
    if report.passed:
        return Text("PASS: every answer is the same bit for bit, and every hit is as computed", style="bold green")
    what = "RED" if report.exit_code == 1 else "ERROR: the gate could not be carried out"
    left = report.planned[len(report.arms) :]
    return Text(what + (f" (not run: {', '.join(left)})" if left else ""), style="bold red")


def _print_faults(result: ArmResult, console: Console) -> None:
    """The arm's own error, the first response that differs, and the first whose cached tokens are not as computed."""
    if result.error is not None:
        console.print(Text(f"{result.arm.name}: {plain_lines(result.error)}", style="red"))
    first = next((response for response in result.responses if response.comparison.differences), None)
    if first is not None:
        _print_differences(result, first, console)
    for response in result.unreached[:1]:
        cached, expected = response.answer.cached_tokens, response.expected_cached_tokens
        console.print(
            Text(
                f"{result.arm.name}: {len(result.unreached)} responses' cached_tokens are not as computed; the first is "
                f"{_where(response)}: {cached}, computed {expected}, of {len(response.answer.prompt_ids)} prompt tokens",
                style="red",
            )
        )


def _print_differences(result: ArmResult, response: Response, console: Console) -> None:
    console.print(Text(f"{result.arm.name}: the first response that differs is {_where(response)}", style="red"))
    for difference in response.comparison.differences:
        place = "" if difference.place is None else f" from {difference.place}"
        console.print(Text(f"  {difference.what}{place}"))
        console.print(Text(f"    expected  {plain(difference.expected)}"))
        console.print(Text(f"    got       {plain(difference.actual)}"))


def _where(response: Response) -> str:
    return f"{plain(response.case)}, turn {response.turn + 1}"


def plain_lines(text: str) -> str:
    """As `plain`, with line ends kept."""
    return "\n".join(plain(line) for line in text.splitlines())
