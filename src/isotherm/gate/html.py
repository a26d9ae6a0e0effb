"""The report as one HTML page that needs nothing else. What servers wrote is escaped twice over: made visible, then as HTML."""

import base64
import hashlib
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from isotherm.gate.columns import COLUMNS, Column
from isotherm.gate.compare import Difference
from isotherm.gate.diff import Section, sections
from isotherm.gate.findings import faults, headline, where
from isotherm.gate.report import GateReport
from isotherm.gate.result import ArmResult, Response
from isotherm.gate.safe import visible
from isotherm.gate.verdict import VERDICT_OF

_PAGE = Path(__file__).parent / "page"
_STYLES = {"equal": "equal"} | {verdict: kind for kind, verdict in VERDICT_OF.items()}


@dataclass(frozen=True, slots=True)
class _Cell:
    """One response in an arm's strip. equal: percent of its tokens before the first that differs. link: "" when all is equal."""

    style: str
    title: str
    equal: int
    link: str


@dataclass(frozen=True, slots=True)
class _Diff:
    """One response that differs, beside what it was compared with."""

    id: str
    style: str
    verdict: str
    where: str
    place: str
    unmet: str | None
    open: bool
    sections: tuple[Section, ...]
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class _Arm:
    """What the page says of an arm. reference: the name of the arm that it is compared with."""

    name: str
    setting: str
    reference: str
    style: str
    cells: tuple[tuple[Column, str], ...]
    strip: tuple[_Cell, ...]
    faults: tuple[str, ...]
    diffs: tuple[_Diff, ...]


def html_page(report: GateReport) -> str:
    """The whole page. Its only script is named by its hash, so that a browser runs no other."""
    script = (_PAGE / "report.js").read_text(encoding="utf-8")
    environment = Environment(
        loader=FileSystemLoader(_PAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    return environment.get_template("report.html.j2").render(
        report=report,
        headline=headline(report),
        columns=COLUMNS,
        arms=[_arm(report, number, result) for number, result in enumerate(report.arms)],
        verdicts=list(_STYLES.items()),
        command=shlex.join(report.command),
        style=Markup((_PAGE / "report.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _finalize(value: Any) -> Any:
    """Whatever the template prints goes through here before it is escaped."""
    return visible(value, keep="\n") if isinstance(value, str) and not isinstance(value, Markup) else value


def _arm(report: GateReport, number: int, result: ArmResult) -> _Arm:
    reference = report.reference_of(result)
    rows = list(enumerate(result.responses))
    errors = [result.error] if result.error else []
    return _Arm(
        name=result.arm.name,
        setting=result.arm.setting,
        reference="what is expected" if reference is None else reference.arm.name,
        style="ok" if result.verdict == "pass" else "fails" if result.exit_code else "shown",
        cells=tuple((column, column.value(result)) for column in COLUMNS),
        strip=tuple(_cell(response, f"d{number}-{row}") for row, response in rows),
        faults=(*errors, *faults(result)),
        diffs=tuple(
            _diff(report, result, response, f"d{number}-{row}") for row, response in rows if response.verdict != "equal"
        ),
    )


def _cell(response: Response, link: str) -> _Cell:
    if response.verdict == "equal":
        return _Cell("equal", f"{where(response)}: equal", 100, "")
    place, length = response.comparison.first_token, _length(response)
    title = f"{where(response)}: {response.verdict}{_place(response)}"
    return _Cell(_STYLES[response.verdict], title, 0 if place is None else round(100 * place / max(length, 1)), link)


def _place(response: Response) -> str:
    place = response.comparison.first_token
    return "" if place is None else f" after {place} of {max(_length(response), place)} tokens"


def _length(response: Response) -> int:
    return len(response.answer.token_ids) or len(response.answer.scores) or response.answer.completion_tokens


def _diff(report: GateReport, result: ArmResult, response: Response, link: str) -> _Diff:
    other = report.counterpart(result, response)
    beside = other is not None and result.arm.kind == "chat" and response.answer.error is None
    return _Diff(
        id=link,
        style=_STYLES[response.verdict],
        verdict=response.verdict,
        where=where(response),
        place=_place(response).strip(),
        unmet=response.expectation,
        open=response is result.worst,
        sections=sections(other.answer, response.answer) if other is not None and beside else (),
        differences=response.comparison.differences,
    )
