"""Where a report is written: JSON, JUnit XML and a page."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from isotherm.gate.html import html_page
from isotherm.gate.junit import junit_xml
from isotherm.gate.report import GateReport

_SECRET_OPTIONS = ("--api-key", "--extra-header")
_KEY = re.compile(r"(--api-key[= ]+)\S+")
_CREDENTIALS = re.compile(r"(://)[^/@\s]+@")


def write_reports(report: GateReport, json_file: str = "", junit_file: str = "", html_file: str = "") -> None:
    """Write the files that are asked for. Raises OSError."""
    if json_file:
        Path(json_file).write_text(json.dumps(report.to_record(), indent=1) + "\n", encoding="utf-8")
    if junit_file:
        Path(junit_file).write_text(junit_xml(report), encoding="utf-8")
    if html_file:
        Path(html_file).write_text(html_page(report), encoding="utf-8")


def without_secrets(words: Sequence[str]) -> tuple[str, ...]:
    """A command line's words, with keys, headers and the credentials in URLs replaced by ***."""
    shown: list[str] = []
    for word in words:
        option, equals, _ = word.partition("=")
        if shown and shown[-1] in _SECRET_OPTIONS:
            shown.append("***")
        elif equals and option in _SECRET_OPTIONS:
            shown.append(f"{option}=***")
        else:
            shown.append(_CREDENTIALS.sub(r"\1***@", _KEY.sub(r"\1***", word)))
    return tuple(shown)
