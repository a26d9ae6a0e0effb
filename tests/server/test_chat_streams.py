"""Chat streams, read by the openai client, and held against the same answer when it is not streamed."""

import json
import logging
from typing import Any

import httpx
import openai
import pytest
from server_fakes import EOS, QueueFull, Script, Served

MESSAGES = [{"role": "user", "content": "Hi"}]
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
CALLS = (
    'Héllo 🙂 <tool_call>\n{"name": "weather", "arguments": {"city": "Zürich 🏔"}}\n</tool_call>\n'
    '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
)


def gather(chunks: Any) -> dict[int, dict[str, Any]]:
    """A stream's choices, put together as a client would."""
    choices: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        for part in chunk.choices:
            choice = choices.setdefault(
                part.index, {"content": "", "calls": {}, "logprobs": [], "ids": [], "reason": None}
            )
            choice["content"] += part.delta.content or ""
            for call in part.delta.tool_calls or ():
                known = choice["calls"].setdefault(call.index, {"id": call.id, "name": "", "arguments": ""})
                known["name"] += call.function.name or ""
                known["arguments"] += call.function.arguments or ""
            choice["logprobs"] += (part.logprobs and part.logprobs.content) or []
            choice["ids"] += getattr(part, "token_ids", None) or []
            choice["reason"] = part.finish_reason or choice["reason"]
    return choices


def test_a_stream_begins_with_the_role_and_ends_with_the_reason(client: openai.OpenAI) -> None:
    chunks = list(client.chat.completions.create(model="tiny", messages=MESSAGES, stream=True))
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    assert gather(chunks)[0]["content"] == "Hello world."
    assert len({chunk.id for chunk in chunks}) == 1
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}


def test_usage_comes_last_when_asked_for(client: openai.OpenAI, served: Served) -> None:
    served.engine.say("Hello", cached=128)
    options = {"include_usage": True}
    chunks = list(client.chat.completions.create(model="tiny", messages=MESSAGES, stream=True, stream_options=options))
    assert chunks[-1].choices == [] and chunks[-1].usage.completion_tokens == 6
    assert chunks[-1].usage.prompt_tokens_details.cached_tokens == 128
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_continuous_usage_counts_up(client: openai.OpenAI) -> None:
    options = {"include_usage": True, "continuous_usage_stats": True}
    chunks = list(client.chat.completions.create(model="tiny", messages=MESSAGES, stream=True, stream_options=options))
    counts = [chunk.usage.completion_tokens for chunk in chunks]
    assert counts == sorted(counts) and counts[0] == 1 and counts[-1] == 13


@pytest.mark.parametrize("group", [1, 2, 3, 7, 1000])
def test_a_stream_says_what_the_whole_answer_says_however_it_is_cut(
    client: openai.OpenAI, served: Served, group: int
) -> None:
    served.engine.say(CALLS, group=group)
    wanted: dict[str, Any] = {
        "model": "tiny",
        "messages": MESSAGES,
        "tools": [WEATHER],
        "logprobs": True,
        "top_logprobs": 20,
        "extra_body": {"return_token_ids": True},
    }
    whole = client.chat.completions.create(**wanted)
    chunks = list(client.chat.completions.create(**wanted, stream=True))
    streamed, choice = gather(chunks)[0], whole.choices[0]
    assert streamed["content"] == choice.message.content
    calls = [(call["name"], call["arguments"]) for call in streamed["calls"].values()]
    assert calls == [(call.function.name, call.function.arguments) for call in choice.message.tool_calls]
    assert [json.loads(arguments)["city"] for _, arguments in calls] == ["Zürich 🏔", "Oslo"]
    assert all(call["id"] for call in streamed["calls"].values())
    assert streamed["reason"] == choice.finish_reason == "tool_calls"
    assert streamed["ids"] == choice.token_ids == [*CALLS.encode(), EOS]
    assert streamed["logprobs"] == choice.logprobs.content
    assert len(streamed["logprobs"]) == len(CALLS.encode()) + 1
    assert chunks[0].prompt_token_ids == whole.prompt_token_ids
    assert whole.usage.completion_tokens == len(choice.token_ids)


def test_text_that_may_be_a_stop_string_is_held_back_and_its_logprobs_are_not(
    client: openai.OpenAI, served: Served
) -> None:
    served.engine.say("abcXYZ")
    chunks = client.chat.completions.create(model="tiny", messages=MESSAGES, stream=True, stop="cXY", logprobs=True)
    choice = gather(chunks)[0]
    assert choice["content"] == "ab"
    assert [entry.token for entry in choice["logprobs"]] == list("abcXY")


def test_choices_are_interleaved_by_index(client: openai.OpenAI, served: Served) -> None:
    served.engine.script = lambda request: Script((*b"pick %d" % request.choice, EOS), pause=0.001)
    options = {"include_usage": True}
    chunks = list(
        client.chat.completions.create(model="tiny", messages=MESSAGES, stream=True, n=8, stream_options=options)
    )
    choices = gather(chunks)
    assert {index: choice["content"] for index, choice in choices.items()} == {i: f"pick {i}" for i in range(8)}
    order = [chunk.choices[0].index for chunk in chunks if chunk.choices]
    assert order != sorted(order)
    assert chunks[-1].usage.completion_tokens == 56


def test_an_error_before_the_first_token_has_its_status(client: openai.OpenAI, served: Served) -> None:
    served.engine.say("Hello", error=QueueFull())
    with pytest.raises(openai.RateLimitError):
        client.chat.completions.create(model="tiny", messages=MESSAGES, stream=True)


def test_an_error_inside_a_stream_is_an_event_and_then_the_stream_is_done(
    http: httpx.Client, served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "isotherm.server")
    served.engine.say("Hello", error=RuntimeError("boom"), error_after=2)
    body = {"messages": MESSAGES, "stream": True}
    with http.stream("POST", "/v1/chat/completions", json=body) as response:
        events = [line.removeprefix("data: ") for line in response.iter_lines() if line]
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    assert json.loads(events[-2])["error"]["code"] == "internal_error"
    assert "boom" not in events[-2]
    assert events[-1] == "[DONE]"
    assert "2 generated, finish error" in caplog.text


def test_the_openai_client_raises_an_error_that_came_inside_a_stream(client: openai.OpenAI, served: Served) -> None:
    served.engine.say("Hello", failed=True, group=2)
    served.engine.script = lambda request: Script(tuple(b"Hel"), failed=True)
    with pytest.raises(openai.APIError, match="not finite"):
        list(client.chat.completions.create(model="tiny", messages=MESSAGES, stream=True))


def test_many_streams_at_once_each_get_their_own_text(served: Served) -> None:
    import asyncio

    served.engine.script = lambda request: Script((*bytes(request.prompt[6:-1]), EOS), pause=0.001)

    async def ask(client: openai.AsyncOpenAI, text: str) -> str:
        stream = await client.chat.completions.create(
            model="tiny", messages=[{"role": "user", "content": text}], stream=True
        )
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    async def ask_all() -> list[str]:
        async with openai.AsyncOpenAI(base_url=f"{served.origin}/v1", api_key="none", max_retries=0) as client:
            return await asyncio.gather(*(ask(client, f"number {i}") for i in range(24)))

    assert asyncio.run(ask_all()) == [f"number {i}" for i in range(24)]
