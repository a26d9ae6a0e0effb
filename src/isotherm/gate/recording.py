"""The reference arm's run: what was sent, what was answered, and what follows from it for the other arms."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from isotherm.gate.answer import Answer
from isotherm.gate.arms import Arm
from isotherm.gate.battery import Slot
from isotherm.gate.client import GateClient
from isotherm.gate.conversation import request_body
from isotherm.gate.reach import Policy, Served, expected_hits, plan_waves

MANY_ERRORS = 3

Tick = Callable[[int], None]
"""Is called with the number of answers that have come."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Requests and the reference's answers, side by side in sending order. hints: tokens before the first user message."""

    slots: tuple[Slot, ...]
    bodies: tuple[dict[str, Any], ...]
    answers: tuple[Answer, ...]
    hints: tuple[int, ...]
    policy: Policy

    def waves(self, concurrency: int) -> list[int]:
        """How many requests to send at once, wave after wave, so that every expected hit is one number."""
        if concurrency == 1:
            return [1] * len(self.slots)
        return plan_waves(self.policy, self._served(self.answers), concurrency)

    def expected(self, arm: Arm, answers: Sequence[Answer]) -> list[int]:
        """The tokens that the cache must skip for each request of an arm that gave these answers."""
        if not arm.caching:
            return [0] * len(self.slots)
        served = self._served(answers)
        waves, start = [], 0
        for length in self.waves(arm.concurrency):
            waves.append(served[start : start + length])
            start += length
        return expected_hits(self.policy, waves)

    def _served(self, answers: Sequence[Answer]) -> list[Served]:
        """The reference's tokens stand in where an arm has none to give."""
        return [
            Served(answer.prompt_ids, hint, answer.token_ids, answer.completion_tokens)
            for answer, hint in zip(
                [own if own.prompt_ids else known for own, known in zip(answers, self.answers, strict=True)],
                self.hints,
                strict=True,
            )
        ]


async def record(client: GateClient, slots: tuple[Slot, ...], policy: Policy, tick: Tick) -> Recording:
    """Send every request, one at a time, each built from the answers before it. Stops at the first that fails.

    Raises ServerError when the server cannot tokenise.
    """
    answers: dict[tuple[str, int], Answer] = {}
    bodies = []
    for slot in slots:
        body = request_body(slot.case, tuple(answers[slot.case.id, turn] for turn in range(slot.turn)))
        bodies.append(body)
        answers[slot.case.id, slot.turn] = answer = await client.chat(body)
        tick(len(bodies))
        if answer.error is not None:
            break
    hints = [await client.hint(body) for body in bodies if answer.error is None]
    sent = slots[: len(bodies)]
    hints += [0] * (len(sent) - len(hints))
    return Recording(sent, tuple(bodies), tuple(answers.values()), tuple(hints), policy)


async def replay(client: GateClient, recording: Recording, concurrency: int, tick: Tick) -> list[Answer]:
    """Send the recorded requests again, in waves; a wave begins when the one before has been answered in full.

    A server that fails is not asked forever: after MANY_ERRORS, the rest is not sent.
    """
    answers: list[Answer] = []
    done = 0

    async def ask(body: dict[str, Any]) -> Answer:
        nonlocal done
        answer = await client.chat(body)
        done += 1
        tick(done)
        return answer

    for length in recording.waves(concurrency):
        if sum(answer.error is not None for answer in answers) >= MANY_ERRORS:
            left = len(recording.bodies) - len(answers)
            return answers + [Answer(error="not sent: too many requests had failed")] * left
        wave = recording.bodies[len(answers) : len(answers) + length]
        answers += await asyncio.gather(*(ask(body) for body in wave))
    return answers
