"""The reference arm's run: what was sent, what was answered, and in which waves the other arms send it again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from isotherm.gate.answer import Answer
from isotherm.gate.arms import Arm
from isotherm.gate.battery import Slot
from isotherm.gate.client import GateClient
from isotherm.gate.conversation import request_body
from isotherm.gate.reach import Policy, Served, expected_hits, plan_waves

Tick = Callable[[int], None]
"""Is called with the number of answers that have come."""


@dataclass(frozen=True, slots=True)
class Wave:
    """Requests that are sent at once, by their place in the recording. fillers: how many are sent before them."""

    places: tuple[int, ...]
    fillers: int = 0


@dataclass(frozen=True, slots=True)
class Recording:
    """Requests and the reference's answers, side by side in sending order. hints: tokens before the first user message."""

    slots: tuple[Slot, ...]
    bodies: tuple[dict[str, Any], ...]
    answers: tuple[Answer, ...]
    hints: tuple[int, ...]

    def waves(self, arm: Arm, policy: Policy | None) -> list[Wave]:
        """In which waves an arm sends everything, as often as it repeats it.

        With a policy, a wave holds only requests whose hits do not depend on who comes first. With pressure, a wave ends with
        its round, so that fillers come between.
        """
        order = self._order(arm)
        lengths = [1] * len(order)
        if arm.concurrency > 1 and policy is not None:
            lengths = plan_waves(policy, self._served(order, [self.answers[place] for place in order]), arm.concurrency)
        elif arm.concurrency > 1:
            whole, rest = divmod(len(order), arm.concurrency)
            lengths = [arm.concurrency] * whole + [rest] * bool(rest)
        waves: list[Wave] = []
        start = 0
        for length in lengths:
            waves += self._cut(order, start, start + length, arm.pressure)
            start += length
        return waves

    def _cut(self, order: list[int], start: int, end: int, pressure: int) -> list[Wave]:
        """order[start:end] as one wave, or, under pressure, as one for each round it touches."""
        begins = [place for place in range(start + 1, end) if pressure and self._begins_round(order, place)]
        edges = [start, *begins, end]
        return [
            Wave(tuple(order[a:b]), pressure if a and pressure and self._begins_round(order, a) else 0)
            for a, b in pairwise(edges)
        ]

    def _begins_round(self, order: list[int], index: int) -> bool:
        """A round is all that is sent of one turn of one battery, one time."""
        now, before = order[index], order[index - 1]
        return now < before or self.slots[now].turn != self.slots[before].turn

    def expected(self, arm: Arm, policy: Policy | None, answers: Sequence[Answer]) -> list[int | None]:
        """The tokens that the cache must skip for each request of an arm that gave these answers, in the order sent.

        None where that is not known: the server does not tell its policy, or was not started for the arm. Under pressure, the
        most that it may skip.
        """
        order = self._order(arm)
        if not arm.caching:
            return [0] * len(order)
        if policy is None or not arm.fresh:
            return [None] * len(order)
        served, waves, start = self._served(order, answers), [], 0
        for wave in self.waves(arm, policy):
            waves.append(served[start : start + len(wave.places)])
            start += len(wave.places)
        return list(expected_hits(policy, waves))

    def _order(self, arm: Arm) -> list[int]:
        return list(range(len(self.slots))) * arm.repeat

    def _served(self, order: list[int], answers: Sequence[Answer]) -> list[Served]:
        """The reference's tokens stand in where an arm has none to give."""
        told = [own if own.prompt_ids else self.answers[place] for place, own in zip(order, answers, strict=True)]
        return [
            Served(answer.prompt_ids, self.hints[place], answer.token_ids, answer.completion_tokens)
            for place, answer in zip(order, told, strict=True)
        ]


async def record(client: GateClient, slots: tuple[Slot, ...], with_hints: bool, tick: Tick) -> Recording:
    """Send every request, one at a time, each built from the answers before it. Stops at the first that fails.

    with_hints: ask the server how many tokens come before each first user message; else 0.
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
    hints = [await client.hint(body) for body in bodies if answer.error is None and with_hints]
    sent = slots[: len(bodies)]
    hints += [0] * (len(sent) - len(hints))
    return Recording(sent, tuple(bodies), tuple(answers.values()), tuple(hints))
