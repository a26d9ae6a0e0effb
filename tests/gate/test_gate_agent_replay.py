"""The agent replay is what its maker writes, and has the size that it is said to have."""

import subprocess
import sys
from pathlib import Path

from isotherm.gate.battery import ordered_slots
from isotherm.gate.case import CASES

MAKER = Path(__file__).parents[2] / "benchmarks" / "make_agent_replay.py"


def test_the_replay_is_twenty_conversations_of_twenty_responses() -> None:
    slots = ordered_slots(("agent",))
    assert len(slots) == 400 and len({slot.case.id for slot in slots}) == 20
    assert {slot.case.turns for slot in slots} == {20}


def test_the_file_is_what_its_maker_writes() -> None:
    made = subprocess.run([sys.executable, str(MAKER)], capture_output=True, check=True, text=True).stdout
    assert made == (CASES / "agent.jsonl").read_text(encoding="utf-8")
