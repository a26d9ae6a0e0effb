"""The agent replay with caching off and on: the wall time of both, whether every answer is equal, and the cache's reach.

    python benchmarks/agent_replay.py [CHECKPOINT] [--concurrency N] [--json FILE]

20 conversations of 20 responses (`gate/cases/agent.jsonl`) that share tools and a preamble, through the gate. They are recorded
on a server with caching off, then sent to a fresh one with it off and to a fresh one with it on, one request at a time
unless told otherwise. Wall time is from the first request to the last answer. Exit code 1 when an answer differs or the reach
is not the computed one.
"""

import argparse
import sys
from dataclasses import replace

from rich.console import Console

from isotherm.gate.arms import CONTROL, OFF_FLAGS, ON_FLAGS, REFERENCE, Arm
from isotherm.gate.config import GateConfig
from isotherm.gate.output import write_reports
from isotherm.gate.result import ArmResult
from isotherm.gate.run import run_gate
from isotherm.gate.terminal import TerminalObserver, print_report


def arms(concurrency: int) -> tuple[Arm, ...]:
    """The recording, and both settings at the same concurrency."""
    off = replace(CONTROL, name="off", setting="caching off", concurrency=concurrency, control=False)
    on = Arm("on", "caching on", ON_FLAGS, caching=True, concurrency=concurrency)
    return replace(REFERENCE, name="recorded", flags=OFF_FLAGS), off, on


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkpoint", nargs="?", default="")
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--json", default="")
    args = parser.parse_args()
    console = Console(highlight=False, width=120)
    config = GateConfig(model=args.checkpoint, batteries=("agent",), arms=arms(args.concurrency))
    report = run_gate(config, TerminalObserver(console))
    print_report(report, console)
    write_reports(report, args.json, "", "")
    if len(report.arms) < 3 or report.arms[2].error:
        sys.exit(2)
    _, off, on = report.arms
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
