"""A tool call's arguments: the object that templates iterate, and the JSON text that it was read from."""

import json
from typing import Any

_SPACE = " \t\n\r"


class RawObject(dict[str, Any]):
    """An object that remembers the text it was read from; see `written`."""

    __slots__ = ("_written",)

    def __init__(self, items: dict[str, Any], text: str):
        super().__init__(items)
        self._written = text


class RawArray(list[Any]):
    """An array that remembers the text it was read from; see `written`."""

    __slots__ = ("_written",)

    def __init__(self, items: list[Any], text: str):
        super().__init__(items)
        self._written = text


def written(value: RawObject | RawArray) -> str:
    """The text that `value` was read from. Not a method: it would hide an argument of that name from templates."""
    return value._written


def parse_arguments(text: str) -> RawObject:
    """The JSON object in `text`; its own values that are objects or arrays remember their text too.

    Control characters inside strings are accepted, since models write them. Raises ValueError when it is not an object.
    """
    items: dict[str, Any] = {}
    at = _expect(text, _skip(text, 0), "{")
    while not text.startswith("}", at):
        at = _skip(text, _expect(text, at, ",") if items else at)
        key, at = _DECODER.raw_decode(text, at)
        if not isinstance(key, str):
            raise ValueError("an object's keys must be strings")
        start = _skip(text, _expect(text, at, ":"))
        value, end = _DECODER.raw_decode(text, start)
        items[key] = _remember(value, text[start:end])
        at = _skip(text, end)
    end = _expect(text, at, "}")
    if end != len(text):
        raise ValueError("text after the object")
    return RawObject(items, text.strip(_SPACE))


def _remember(value: Any, text: str) -> Any:
    if isinstance(value, dict):
        return RawObject(value, text)
    return RawArray(value, text) if isinstance(value, list) else value


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _expect(text: str, at: int, mark: str) -> int:
    """The place after `mark` and the whitespace on both sides of it."""
    at = _skip(text, at)
    if not text.startswith(mark, at):
        raise ValueError(f"expected {mark!r} at character {at}")
    return _skip(text, at + 1)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse_constant)
