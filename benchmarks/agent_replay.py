"""The agent replay with caching off and on: the wall time of both, whether every answer is equal, and the cache's reach.

    python benchmarks/agent_replay.py [CHECKPOINT] [--device cuda] [--json FILE]

20 conversations of 20 responses (`gate/cases/agent.jsonl`) that share tools and a preamble, through the gate, one request at
a time: recorded on a server with caching off, then sent to a fresh one with caching on. Wall time is from the first request to
the last answer; with caching off, a tokenisation of each request is in it, which the gate needs for the computed reach.
Exit code 1 when an answer differs or the reach is not the computed one.
"""

import argparse
import sys

from rich.console import Console

from isotherm.gate.arms import ON_FLAGS, REFERENCE, Arm
from isotherm.gate.config import GateConfig
from isotherm.gate.output import write_reports
from isotherm.gate.result import ArmResult
from isotherm.gate.run import run_gate
from isotherm.gate.terminal import TerminalObserver, print_report

ON = Arm("on", "caching on", ON_FLAGS, caching=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkpoint", nargs="?", default="")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--json", default="")
    args = parser.parse_args()
    console = Console(highlight=False, width=120)
    serve = ("--device", args.device)
    config = GateConfig(model=args.checkpoint, batteries=("agent",), arms=(REFERENCE, ON), serve_args=serve)
    report = run_gate(config, TerminalObserver(console))
    print_report(report, console)
    write_reports(report, args.json, "", "")
    if len(report.arms) < 2 or report.arms[1].error:
        sys.exit(2)
    off, on = report.arms
    unequal = sum(response.comparison.verdict != "equal" for response in on.responses)
    unreached = len(on.unreached)
    faster = off.seconds / on.seconds
    console.print(f"wall: {off.seconds:.1f} s off, {on.seconds:.1f} s on: {faster:.2f} times faster")
    console.print(f"{len(on.responses)} responses: {unequal} unequal, {unreached} whose reach is not the computed one")
    console.print(f"{on.cached_tokens} of {prompted(on)} prompt tokens from the cache")
    sys.exit(bool(unequal or unreached or not report.passed))


def prompted(result: ArmResult) -> int:
    """Prompt tokens of all its requests."""
    return sum(len(response.answer.prompt_ids) for response in result.responses)


if __name__ == "__main__":
    main()
