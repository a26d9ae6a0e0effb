"""The embedded model, served with caching off, meets what every case of batteries a, b and repro expects."""

import asyncio
from pathlib import Path

import pytest

from isotherm.gate.answer import Answer
from isotherm.gate.arms import REFERENCE
from isotherm.gate.battery import Slot, ordered_slots
from isotherm.gate.client import GateClient
from isotherm.gate.config import GateConfig
from isotherm.gate.conversation import request_body
from isotherm.gate.expect import unmet
from isotherm.gate.process import free_port, running_server

TOGETHER = 8


async def ask(url: str, slots: list[Slot]) -> dict[tuple[str, int], Answer]:
    """The answers by case and turn. Some at once: that changes no answer, and saves time."""
    answers: dict[tuple[str, int], Answer] = {}
    limit = asyncio.Semaphore(TOGETHER)
    async with GateClient(url, 120.0) as client:

        async def one(slot: Slot) -> None:
            recorded = tuple(answers[slot.case.id, turn] for turn in range(slot.turn))
            async with limit:
                answers[slot.case.id, slot.turn] = await client.chat(request_body(slot.case, recorded))

        for turn in sorted({slot.turn for slot in slots}):
            await asyncio.gather(*(one(slot) for slot in slots if slot.turn == turn))
    return answers


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], Answer]:
    port = free_port()
    log = tmp_path_factory.mktemp("server") / "server.log"
    command = GateConfig().command(REFERENCE, port)
    with running_server(command, port, Path(log), 120.0) as url:
        return asyncio.run(ask(url, list(ordered_slots(("a", "b", "repro")))))


@pytest.mark.parametrize("slot", ordered_slots(("a", "b", "repro")), ids=lambda slot: f"{slot.case.id}-{slot.turn}")
def test_caching_off_meets_what_the_case_expects(slot: Slot, answers: dict[tuple[str, int], Answer]) -> None:
    expectation = slot.case.expectation(slot.turn)
    answer = answers[slot.case.id, slot.turn]
    assert expectation is not None
    assert unmet(expectation, answer) is None, answer.text or answer.error


def test_answers_are_short_enough_for_the_demo(answers: dict[tuple[str, int], Answer]) -> None:
    """Its first row is to come within half a minute on two cores, and no answer is to run into the limit."""
    demo = ordered_slots(("a", "b"))
    assert all(answers[slot.case.id, slot.turn].finish_reason != "length" for slot in demo)
    assert sum(answers[slot.case.id, slot.turn].completion_tokens for slot in demo) < 2400
    assert sum(len(answers[slot.case.id, slot.turn].prompt_ids) for slot in demo) < 62_000
