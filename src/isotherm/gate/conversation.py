"""From a case and the answers recorded so far to the next request's body."""

import json
from typing import Any

from isotherm.gate.answer import Answer, ToolCall
from isotherm.gate.case import Case, FollowUp, ToolResult, UserTurn

FIXED: dict[str, Any] = {
    "temperature": 0,
    "logprobs": True,
    "top_logprobs": 20,
    "return_token_ids": True,
    "max_tokens": 160,
    "stream": True,
    "stream_options": {"include_usage": True},
}
"""What every request asks for unless its case says otherwise."""

UNANSWERED = '{"error": "not available"}'
"""The result of a call that the battery did not foresee."""

Message = dict[str, Any]


def request_body(case: Case, recorded: tuple[Answer, ...]) -> dict[str, Any]:
    """The body of the turn that follows the `recorded` answers, which are the reference run's, the same for every arm."""
    messages = list(case.messages)
    for answer, follow_up in zip(recorded, case.follow_ups, strict=False):
        messages += [_assistant(answer), *_follow_up(answer, follow_up)]
    body = FIXED | dict(case.params) | {"messages": messages}
    return body | {"tools": list(case.tools)} if case.tools else body


def answered_calls(body: dict[str, Any]) -> tuple[ToolCall, ...]:
    """The calls of a request's conversation that have been answered, when a tool's result is the last thing said; else none.

    Once the user has spoken again, the same call may well be right.
    """
    messages = body["messages"]
    if messages[-1].get("role") != "tool":
        return ()
    functions = [call["function"] for message in messages for call in message.get("tool_calls") or ()]
    return tuple(ToolCall(function["name"], function["arguments"]) for function in functions)


def _assistant(answer: Answer) -> Message:
    message: Message = {"role": "assistant", "content": answer.text}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if calls := _whole_calls(answer):
        message["tool_calls"] = [
            {"id": _call_id(i), "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for i, call in enumerate(calls)
        ]
    return message


def _whole_calls(answer: Answer) -> tuple[ToolCall, ...]:
    """The answer's calls; none when the token limit cut one short, since a server would rightly refuse it as history."""
    try:
        whole = all(isinstance(json.loads(call.arguments), dict) for call in answer.tool_calls)
    except ValueError:
        return ()
    return answer.tool_calls if whole else ()


def _follow_up(answer: Answer, follow_up: FollowUp) -> list[Message]:
    """The messages after an answer. A user who speaks after calls that nobody has answered first sees each of them refused."""
    if not isinstance(follow_up, UserTurn):
        return _results(answer, follow_up.results)
    refused = [
        {"role": "tool", "tool_call_id": _call_id(i), "content": UNANSWERED} for i in range(len(_whole_calls(answer)))
    ]
    return [*refused, {"role": "user", "content": follow_up.content}]


def _results(answer: Answer, results: tuple[ToolResult, ...]) -> list[Message]:
    """A tool message for every call, or, when the answer called nothing, the results told by the user."""
    calls = _whole_calls(answer)
    if not calls:
        told = " ".join(f"The result of {result.name} is: {result.content}" for result in results)
        return [{"role": "user", "content": told}]
    left, messages = list(results), []
    for i, call in enumerate(calls):
        result = next((result for result in left if result.name == call.name), left[0] if left else results[-1])
        if result in left:
            left.remove(result)
        messages.append({"role": "tool", "tool_call_id": _call_id(i), "content": result.content})
    return messages


def _call_id(index: int) -> str:
    return f"call_{index}"
