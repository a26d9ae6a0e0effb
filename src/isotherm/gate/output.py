"""Where a report is written: JSON, JUnit XML and a page."""

import json
from pathlib import Path

from isotherm.gate.html import html_page
from isotherm.gate.junit import junit_xml
from isotherm.gate.report import GateReport


def write_reports(report: GateReport, json_file: str = "", junit_file: str = "", html_file: str = "") -> None:
    """Write the files that are asked for. Raises OSError."""
    if json_file:
        Path(json_file).write_text(json.dumps(report.to_record(), indent=1) + "\n", encoding="utf-8")
    if junit_file:
        Path(junit_file).write_text(junit_xml(report), encoding="utf-8")
    if html_file:
        Path(html_file).write_text(html_page(report), encoding="utf-8")
