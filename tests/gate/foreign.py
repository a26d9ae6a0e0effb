"""The gate against foreign_server.py, in small."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from isotherm.gate.plan import ArmOptions
from isotherm.gate.report import GateReport
from isotherm.gate.request import GateRequest
from isotherm.gate.run import run_gate

FOREIGN = [sys.executable, str(Path(__file__).with_name("foreign_server.py"))]
TOOL = {"type": "function", "function": {"name": "ask", "parameters": {"type": "object", "properties": {}}}}


def write_battery(folder: Path) -> str:
    """Four cases, six responses; the path of their file."""
    cases: list[dict[str, Any]] = []
    for name, question in [("one", "why"), ("two", "how"), ("three", "when"), ("four", "who")]:
        messages = [{"role": "system", "content": "s" * 150}, {"role": "user", "content": question * 20}]
        follow_ups = [[{"name": "ask", "content": f"result of {name}"}]] if name in ("one", "two") else []
        cases.append({"id": name, "messages": messages, "tools": [TOOL], "follow_ups": follow_ups})
    path = folder / "small.jsonl"
    path.write_text("\n".join(map(json.dumps, cases)))
    return str(path)


def commands(*options: str, off: tuple[str, ...] = (), on: tuple[str, ...] = ()) -> ArmOptions:
    def command(*more: str) -> str:
        return shlex.join([*FOREIGN, "--port", "{port}", *options, *more])

    return ArmOptions(
        off_cmd=command("--no-enable-prefix-caching", *off), on_cmd=command("--enable-prefix-caching", *on)
    )


def gate(battery: str, arms: ArmOptions, **settings: Any) -> GateReport:
    return run_gate(GateRequest(arms=arms, battery=battery, **settings).config())


def verdicts(report: GateReport) -> dict[str, str]:
    return {result.arm.name: result.verdict for result in report.arms}
