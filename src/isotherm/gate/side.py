"""Two arms' answers to one case, side by side in the terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from isotherm.gate.compare import compare
from isotherm.gate.diff import Pieces, Section, sections
from isotherm.gate.report import GateReport
from isotherm.gate.result import ArmResult, Response
from isotherm.gate.safe import plain, visible

_MARK = {"left": "bold green", "right": "bold red"}


def print_side_by_side(report: GateReport, case: str, arm_a: str, arm_b: str, console: Console | None = None) -> None:
    """Every turn of `case` as the two arms answered it, with what differs in bold; a turn that is the same is told once.

    Raises KeyError when an arm did not run or has no answer to the case.
    """
    console = console or Console(highlight=False)
    left, right = _responses(report, case, arm_a), _responses(report, case, arm_b)
    for turn in sorted(left.keys() & right.keys()):
        _print_turn(report, (arm_a, left[turn]), (arm_b, right[turn]), console)


def _responses(report: GateReport, case: str, name: str) -> dict[int, Response]:
    result = report.arm(name)
    found = {} if result is None else {r.turn: r for r in result.responses if r.case == case and not r.repeat}
    if not found:
        raise KeyError(f"arm {name!r} has no answer to {case!r}")
    return found


def _print_turn(report: GateReport, left: tuple[str, Response], right: tuple[str, Response], console: Console) -> None:
    parts = sections(left[1].answer, right[1].answer)
    title = f"{plain(left[1].case)}, turn {left[1].turn + 1}"
    if not any(part.differs for part in parts):
        same = " ".join(_whole(part.left) for part in parts if part.name != "finish")
        bits = compare(left[1].answer, right[1].answer).has("bits")
        note = "the same text in both" + (", other bits" if bits else "")
        console.print(Text.assemble((f"{title}: {note}  ", "bold"), (plain(same, 300), "dim")))
        return
    console.print(Text(title, style="bold"))
    table = Table(expand=True, pad_edge=False, box=None, padding=(0, 2, 0, 0))
    table.add_column("", width=max(len(part.name) for part in parts))
    for name, response in (left, right):
        table.add_column(_heading(report.arm(name), response), ratio=1, overflow="fold")
    for part in parts:
        table.add_row(Text(part.name, style="dim"), _side(part, "left"), _side(part, "right"))
    table.add_row(Text(""), _met(left[1]), _met(right[1]))
    console.print(table)


def _heading(result: ArmResult | None, response: Response) -> Text:
    """The arm, what it is, and how much of the prompt came from its cache."""
    assert result is not None
    cached = response.answer.cached_tokens
    told = "" if cached is None else f", {cached} tokens cached"
    return Text.assemble((plain(result.arm.name), "bold"), (f"  {plain(result.arm.setting)}{told}", "dim"))


def _side(part: Section, side: str) -> Text:
    pieces = part.left if side == "left" else part.right
    if pieces is None:
        return Text("none", style="dim italic")
    return Text.assemble(*((visible(piece.text, keep="\n"), _MARK[side] if piece.differs else "") for piece in pieces))


def _whole(pieces: Pieces | None) -> str:
    return "".join(piece.text for piece in pieces or ())


def _met(response: Response) -> Text:
    if not response.has_expectation:
        return Text("")
    if response.expectation is None:
        return Text("as the case asks", style="green")
    return Text(f"not as the case asks: {plain(response.expectation)}", style="red")
