"""What an answer must be for its case to be met, checked by machine."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from isotherm.gate.answer import Answer, ToolCall


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call that must be made: the tool's name and all of its arguments, as JSON values."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one answer must be.

    calls: exactly these, in any order; None when the calls are not looked at. no_call: there must be none.
    contains, lacks: texts that the answer must or must not contain, whatever their case.
    """

    calls: tuple[ExpectedCall, ...] | None = None
    contains: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    no_call: bool = False


def read_expectation(record: Mapping[str, Any]) -> Expectation:
    """An expectation from its JSON form: {"calls": [{"name", "arguments"}], "contains": [...], "lacks": [...], "no_call": bool}.

    Every field may be left out. Without `calls`, `no_call` is true unless said otherwise. Raises ValueError or KeyError.
    """
    unknown = record.keys() - {"calls", "contains", "lacks", "no_call"}
    if unknown:
        raise ValueError(f"expect: unknown {sorted(unknown)}")
    calls = record.get("calls")
    return Expectation(
        calls=None if calls is None else tuple(ExpectedCall(call["name"], call["arguments"]) for call in calls),
        contains=_texts(record, "contains"),
        lacks=_texts(record, "lacks"),
        no_call=bool(record.get("no_call", calls is None)),
    )


def _texts(record: Mapping[str, Any], key: str) -> tuple[str, ...]:
    texts = record.get(key, ())
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"expect: {key} must be a list of texts, got {texts!r}")
    return tuple(texts)


def unmet(expectation: Expectation, answer: Answer) -> str | None:
    """Why `answer` does not meet the expectation, in words; None when it does."""
    if answer.error is not None:
        return f"no answer: {answer.error}"
    if expectation.no_call and answer.tool_calls:
        return f"called {_made(answer.tool_calls)} where no call was expected"
    if expectation.calls is not None and (reason := _unmet_calls(expectation.calls, answer.tool_calls)):
        return reason
    if expectation.no_call and not answer.text.strip():
        return "the answer is empty"
    text = answer.text.casefold()
    for part in expectation.contains:
        if part.casefold() not in text:
            return f"{part!r} is not in the answer"
    for part in expectation.lacks:
        if part.casefold() in text:
            return f"{part!r} is in the answer"
    return None


def _unmet_calls(expected: tuple[ExpectedCall, ...], made: tuple[ToolCall, ...]) -> str | None:
    left = list(made)
    for call in expected:
        found = next((other for other in left if _same_call(call, other)), None)
        if found is None:
            arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
            return f"expected {call.name}({arguments}), got {_made(made)}"
        left.remove(found)
    return f"called {_made(tuple(left))} as well" if left else None


def _same_call(expected: ExpectedCall, call: ToolCall) -> bool:
    if expected.name != call.name:
        return False
    try:
        return same_json(json.loads(call.arguments), dict(expected.arguments))
    except ValueError:
        return False


def same_json(left: Any, right: Any) -> bool:
    """Whether two JSON values are the same: 17 is 17.0, true is not 1, and the order of an object's keys is of no matter."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(same_json(a, b) for a, b in zip(left, right, strict=True))
    return bool(left == right)


def _made(calls: tuple[ToolCall, ...]) -> str:
    return ", ".join(f"{call.name}({call.arguments})" for call in calls) or "no call"
