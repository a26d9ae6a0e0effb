"""The qwen3_coder tool format: XML-like, a value between the lines of its parameter.

    <tool_call>
    <function=name>
    <parameter=key>
    value
    </parameter>
    </function>
    </tool_call>

A call begins when its function's name and the start of a parameter (or </function>) are there. One newline on each side of a
value belongs to the format. A value ends at a </parameter> that another parameter or </function> follows; any other is part of
the value. Strings are streamed; other values are converted once whole. Where the text ends inside a call, its arguments end
too, without their closing brace, so that an unfinished call never looks whole; a value that was not converted yet is given
back as text. What follows </function> in place of </tool_call> is text.
"""

import json
from collections.abc import Callable

from isotherm.text.calls import Head, close
from isotherm.text.delta import Sink
from isotherm.text.schema import ParameterTypes, is_verbatim, to_json
from isotherm.text.source import Source, Steps

_FUNCTION, _FUNCTION_END = "<function=", "</function>"
_PARAMETER, _PARAMETER_END = "<parameter=", "</parameter>"


class Qwen3CoderFormat:
    """Reads calls of the qwen3_coder format."""

    newlines = 2

    def __init__(self, types: ParameterTypes):
        self._types = types

    def head(self, source: Source, at: int) -> Steps[Head | None]:
        """<function=name> and the start of what is in it."""
        at = yield from source.space(at)
        if not (yield from source.literal(at, _FUNCTION)):
            return None
        at += len(_FUNCTION)
        name = yield from source.name(at)
        if not name:
            return None
        at = yield from source.space(at + len(name) + 1)
        return Head(name, at) if (yield from _is_next(source, at)) else None

    def body(self, source: Source, sink: Sink, head: Head) -> Steps[None]:
        """Parameters up to </function>, then </tool_call>."""
        sink.call(head.name)
        before = "{"
        while (yield from source.char(0)):
            if (yield from source.literal(0, _FUNCTION_END)):
                source.take(len(_FUNCTION_END))
                sink.arguments("{}" if before == "{" else "}")
                yield from close(source)
                return
            source.take(len(_PARAMETER))
            key = yield from source.name(0)
            source.take(len(key) + 1)
            opening = f"{before}{json.dumps(key, ensure_ascii=False)}: "
            types = self._types.of(head.name, key)
            if is_verbatim(types):
                yield from _string(source, sink, opening)
            else:
                yield from _converted(source, sink, opening, key, types)
            before = ", "


def _is_next(source: Source, at: int) -> Steps[bool]:
    """Whether a parameter's start or </function> stands at an offset."""
    if (yield from source.literal(at, _FUNCTION_END)):
        return True
    return (yield from source.literal(at, _PARAMETER)) and bool((yield from source.name(at + len(_PARAMETER))))


def _value_end(source: Source) -> Steps[int]:
    """The offset after the end of a value, with its newline and </parameter>, when it stands here; else 0."""
    at = 1 if source.piece(0, 1) == "\n" else 0
    if not (yield from source.literal(at, _PARAMETER_END)):
        return 0
    at = yield from source.space(at + len(_PARAMETER_END))
    ended = not (yield from source.char(at))
    return at if ended or (yield from _is_next(source, at)) else 0


def _value(source: Source, emit: Callable[[str], None]) -> Steps[bool]:
    """Emits the text of a value; whether its end was there."""
    while (yield from source.char(0)):
        if plain := source.plain():
            emit(source.take(plain))
        elif end := (yield from _value_end(source)):
            source.take(end)
            return True
        else:
            emit(source.take(1))
    return False


def _string(source: Source, sink: Sink, opening: str) -> Steps[None]:
    """Streams a value as a JSON string."""
    sink.arguments(opening + '"')
    if (yield from source.char(0)) == "\n":
        source.take(1)
    if (yield from _value(source, lambda text: sink.arguments(json.dumps(text, ensure_ascii=False)[1:-1]))):
        sink.arguments('"')


def _converted(source: Source, sink: Sink, opening: str, key: str, types: frozenset[str]) -> Steps[None]:
    """Converts a value once it is whole."""
    lead = source.take(1) if (yield from source.char(0)) == "\n" else ""
    pieces: list[str] = []
    if (yield from _value(source, pieces.append)):
        sink.arguments(opening + to_json("".join(pieces), types))
    else:
        sink.content(f"{_PARAMETER}{key}>{lead}{''.join(pieces)}")
