"""Sending a recording again, wave after wave, with fillers between."""

import asyncio
import random
from typing import Any

from isotherm.gate.answer import Answer
from isotherm.gate.client import GateClient, ServerError
from isotherm.gate.recording import Recording, Tick, Wave

MANY_ERRORS = 3
FILLER_WORDS = 1000
_SYLLABLES = ("ka", "lo", "mi", "re", "su", "ten", "vo", "nar", "pel", "dis", "gra", "hum")


async def replay(client: GateClient, recording: Recording, waves: list[Wave], tick: Tick) -> list[Answer]:
    """Send the recorded requests in waves; a wave begins when the one before has been answered in full.

    A server that fails is not asked forever: after MANY_ERRORS, the rest is not sent. Raises ServerError when it refuses a
    filler.
    """
    answers: list[Answer] = []
    done, filled = 0, 0

    async def ask(body: dict[str, Any]) -> Answer:
        nonlocal done
        answer = await client.chat(body)
        done += 1
        tick(done)
        return answer

    for wave in waves:
        if sum(answer.error is not None for answer in answers) >= MANY_ERRORS:
            answers += [Answer(error="not sent: too many requests had failed")] * len(wave.places)
            continue
        for _ in range(wave.fillers):
            await _fill(client, filled)
            filled += 1
        answers += await asyncio.gather(*(ask(recording.bodies[place]) for place in wave.places))
    return answers


async def _fill(client: GateClient, number: int) -> None:
    """One request that nothing shares a prefix with: it takes room in the cache."""
    answer = await client.chat(filler(number))
    if answer.error is not None:
        raise ServerError(f"a filler request was not answered: {answer.error}")


def filler(number: int) -> dict[str, Any]:
    """The body of a filler: FILLER_WORDS words that no other filler begins with, the same in every run; for one token."""
    draw = random.Random(number)
    words = ("".join(draw.choices(_SYLLABLES, k=2)) for _ in range(FILLER_WORDS))
    content = f"{number}: {' '.join(words)}"
    return {"messages": [{"role": "user", "content": content}], "temperature": 0, "max_tokens": 1, "stream": True}
