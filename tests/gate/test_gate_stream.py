"""Responses in the forms that servers give them, gathered into the same answer."""

import json
from typing import Any

from isotherm.gate.answer import ToolCall
from isotherm.gate.stream import StreamReader

ENTRY = {"token": "Hi", "id": 7, "logprob": -0.5, "top_logprobs": [{"token": "Hi", "logprob": -0.5}]}
CALL = {"name": "ask", "arguments": '{"q": 1}'}
USAGE = {"completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 64}}


def streamed(*events: dict[str, Any], done: bool = True) -> StreamReader:
    reader = StreamReader()
    for event in events:
        reader.push(f"data: {json.dumps(event)}")
        reader.push("")
    reader.push(": a comment")
    if done:
        reader.push("data: [DONE]")
    return reader


def test_a_stream_and_a_whole_response_give_the_same_answer() -> None:
    scores = {"logprobs": {"content": [ENTRY]}}
    parts = streamed(
        {"choices": [{"delta": {"role": "assistant", "content": None}}], "error": None},
        {"choices": [{"delta": {"content": "Hi"}} | scores]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "ask", "arguments": '{"q":'}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": " 1}"}}]}}]},
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": USAGE},
    ).answer(None, 1.0)
    message = {"content": "Hi", "tool_calls": [{"id": "x", "function": CALL}]}
    whole = StreamReader()
    whole.whole({"choices": [{"message": message, "finish_reason": "tool_calls"} | scores], "usage": USAGE})
    assert whole.answer(None, 1.0) == parts
    assert parts.tool_calls == (ToolCall("ask", '{"q": 1}'),) and parts.cached_tokens == 64 and parts.error is None


def test_llama_cpps_token_ids_are_found_in_the_logprobs_and_vllms_beside_them() -> None:
    choice = {"delta": {"content": "Hi"}, "logprobs": {"content": [ENTRY]}, "finish_reason": "stop"}
    assert streamed({"choices": [choice]}).answer(None, 0.0).token_ids == (7,)
    assert streamed({"choices": [choice | {"token_ids": [9]}]}).answer(None, 0.0).token_ids == (9,)


def test_calls_without_an_index_are_told_apart() -> None:
    reader = StreamReader()
    calls = [{"id": "x", "function": CALL}, {"id": "y", "function": CALL | {"name": "tell"}}]
    reader.whole({"choices": [{"message": {"content": None, "tool_calls": calls}, "finish_reason": "tool_calls"}]})
    assert [call.name for call in reader.answer(None, 0.0).tool_calls] == ["ask", "tell"]


def test_a_stream_that_ends_early_carries_an_error_or_cannot_be_read_is_an_error() -> None:
    said = {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}
    assert streamed(said).answer(None, 0.0).error is None
    assert streamed(said, done=False).answer(None, 0.0).error == "the stream ended early"
    assert "boom" in str(streamed({"error": {"message": "boom"}}).answer(None, 0.0).error)
    assert "unreadable event" in str(streamed({"choices": [7]}).answer(None, 0.0).error)
    whole = StreamReader()
    whole.whole({"choices": [{}]})
    assert "unreadable response" in str(whole.answer(None, 0.0).error)
