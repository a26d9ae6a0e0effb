"""What the demo ends with: one request answered by exact mode and by a historical layout, side by side."""

from dataclasses import replace

from rich.console import Console
from rich.text import Text

from isotherm.gate.arms import ON_FLAGS, Arm
from isotherm.gate.config import GateConfig
from isotherm.gate.published import PUBLISHED
from isotherm.gate.run import run_gate
from isotherm.gate.safe import plain
from isotherm.gate.side import print_side_by_side

EXACT = Arm("exact", "caching on", ON_FLAGS, caching=True)
HISTORICAL = replace(next(arm for arm in PUBLISHED if arm.name == "A3"), must_differ_bits=False, may_differ=True)


def last_act(config: GateConfig, console: Console) -> None:
    """Two fresh servers, the battery `repro`. What comes is shown as it is; it does not bear on the gate's exit code."""
    report = run_gate(replace(config, batteries=("repro",), arms=(EXACT, replace(HISTORICAL, against=EXACT.name))))
    console.print(
        Text("\nThe same requests, caching on: exact mode, and a layout as published engines had it (A3).", "bold")
    )
    console.print(Text(f"A3: {HISTORICAL.setting}; docs/native.md.", "dim"))
    failed = report.error or next((result.error for result in report.arms if result.error), None)
    if failed:
        console.print(Text(f"not shown: {plain(failed)}", "yellow"))
        return
    for case in dict.fromkeys(response.case for response in report.arms[0].responses):
        print_side_by_side(report, case, EXACT.name, HISTORICAL.name, console)
