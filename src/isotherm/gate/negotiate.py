"""Finding out which fields a server takes, by asking it something small."""

from collections.abc import Iterable
from dataclasses import replace

from isotherm.gate.answer import Answer
from isotherm.gate.api import FULL, PLAINEST, Dialect
from isotherm.gate.client import GateClient, ServerError
from isotherm.gate.conversation import FIXED

_TOOL = {
    "type": "function",
    "function": {
        "name": "get_time",
        "description": "Get the time in a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
_QUESTION = {"messages": [{"role": "user", "content": "Say hello."}], "tools": [_TOOL], "max_tokens": 4}
_TOP_LOGPROBS = (20, 10, 5, 1, 0)


async def negotiate(client: GateClient) -> Dialect:
    """The richest dialect that the server takes; most take all of it, and then this is one request.

    Otherwise the plainest request comes first, which must be answered, and then one thing more at a time.
    Raises ServerError when the plainest is not answered.
    """
    if (await _ask(client, FULL)).error is None:
        return FULL
    plainest = await _ask(client, PLAINEST)
    if plainest.error is not None:
        raise ServerError(f"POST /v1/chat/completions: {plainest.error}")
    dialect = PLAINEST
    tops = (replace(dialect, top_logprobs=top) for top in _TOP_LOGPROBS)
    dialect = await _first_taken(client, tops, dialect)
    dialect = await _first_taken(client, [replace(dialect, usage=True)], dialect)
    dialect = await _first_taken(client, [replace(dialect, tools=True)], dialect)
    return await _first_taken(client, [replace(dialect, token_ids=True)], dialect)


async def _first_taken(client: GateClient, candidates: Iterable[Dialect], otherwise: Dialect) -> Dialect:
    for candidate in candidates:
        if (await _ask(client, candidate)).error is None:
            return candidate
    return otherwise


async def _ask(client: GateClient, dialect: Dialect) -> Answer:
    return await client.chat(dialect.spoken(FIXED | _QUESTION))
