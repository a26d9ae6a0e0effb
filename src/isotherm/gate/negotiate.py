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

    Otherwise the plainest request comes first, which must be answered, and then one thing more at a time: tools, since without
    them it would be another battery, then log-probabilities. When streams lack one of these two, whole responses are tried
    (llama.cpp refuses tools, log-probabilities and streaming together). Raises ServerError when the plainest is not answered.
    """
    if (await _ask(client, FULL)).error is None:
        return FULL
    plainest = await _ask(client, PLAINEST)
    if plainest.error is not None:
        raise ServerError(f"POST /v1/chat/completions: {plainest.error}")
    streamed = await _richer(client, PLAINEST)
    if _weight(streamed) == _weight(FULL):
        return streamed
    whole = await _richer(client, replace(PLAINEST, stream=False))
    return whole if _weight(whole) > _weight(streamed) else streamed


def _weight(dialect: Dialect) -> tuple[bool, bool]:
    return dialect.tools, dialect.top_logprobs is not None


async def _richer(client: GateClient, dialect: Dialect) -> Dialect:
    dialect = await _first_taken(client, [replace(dialect, tools=True)], dialect)
    tops = (replace(dialect, top_logprobs=top) for top in _TOP_LOGPROBS)
    dialect = await _first_taken(client, tops, dialect)
    dialect = await _first_taken(client, [replace(dialect, usage=True)], dialect)
    return await _first_taken(client, [replace(dialect, token_ids=True)], dialect)


async def _first_taken(client: GateClient, candidates: Iterable[Dialect], otherwise: Dialect) -> Dialect:
    for candidate in candidates:
        if (await _ask(client, candidate)).error is None:
            return candidate
    return otherwise


async def _ask(client: GateClient, dialect: Dialect) -> Answer:
    return await client.chat(dialect.spoken(FIXED | _QUESTION))
