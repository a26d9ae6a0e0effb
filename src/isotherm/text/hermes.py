"""The hermes tool format: a JSON object, {"name": ..., "arguments": {...}}, between <tool_call> and </tool_call>.

A call begins when its name and the first key of its arguments (or their closing brace) are there. Arguments are passed on
character by character as the model wrote them, and end where they stop being JSON: what is left is text. A call without
arguments has {}. Where the text ends inside the arguments, so do they. The object's closing brace and </tool_call> may be
missing once the arguments are whole; members other than name and arguments are dropped.
"""

import json

from isotherm.text.calls import Head, close
from isotherm.text.delta import Sink
from isotherm.text.json_scan import JsonScanner
from isotherm.text.source import Source, Steps


class HermesFormat:
    """Reads calls of the hermes format."""

    newlines = 1

    def head(self, source: Source, at: int) -> Steps[Head | None]:
        """The object's members up to its arguments, or all of them where the name comes after."""
        at = yield from source.space(at)
        members: dict[str, str] = {}
        while (yield from source.literal(at, "," if members else "{")):
            key, start = yield from _key(source, at + 1)
            name = _name(members.get("name", ""))
            if key == "arguments" and name:
                return Head(name, start) if (yield from _opens_object(source, start)) else None
            end = -1 if key is None else (yield from _value_end(source, start))
            if key is None or end < 0:
                return None
            members[key] = source.piece(start, end)
            at = yield from source.space(end)
        name, arguments = _name(members.get("name", "")), members.get("arguments", "{}")
        if not name or not arguments.startswith("{") or not (yield from source.literal(at, "}")):
            return None
        return Head(name, at + 1, arguments)

    def body(self, source: Source, sink: Sink, head: Head) -> Steps[None]:
        """The arguments, the object's end, then </tool_call>."""
        sink.call(head.name)
        if head.arguments is not None:
            sink.arguments(head.arguments)
        elif not (yield from _stream(source, sink)):
            return
        else:
            source.take((yield from _object_end(source)))
        yield from close(source)


def _name(value: str) -> str:
    """The string that JSON text holds, "" when it is no string or not printable (half of a surrogate pair)."""
    name = json.loads(value, strict=False) if value.startswith('"') else ""
    return name if name.isprintable() else ""


def _key(source: Source, at: int) -> Steps[tuple[str | None, int]]:
    """A member's key and the offset of its value; the key is None when there is none."""
    at = yield from source.space(at)
    end = (yield from _value_end(source, at)) if (yield from source.literal(at, '"')) else -1
    if end < 0:
        return None, at
    key = json.loads(source.piece(at, end), strict=False)
    at = yield from source.space(end)
    if not (yield from source.literal(at, ":")):
        return None, at
    return key, (yield from source.space(at + 1))


def _opens_object(source: Source, at: int) -> Steps[bool]:
    """Whether an object begins at an offset: a brace, then a key or the closing brace."""
    if not (yield from source.literal(at, "{")):
        return False
    return (yield from source.char((yield from source.space(at + 1)))) in ('"', "}")


def _value_end(source: Source, at: int) -> Steps[int]:
    """The offset after the JSON value that begins at an offset, -1 when there is none."""
    if (yield from source.char(at)) not in ('"', "{", "["):
        end = at
        while (character := (yield from source.char(end))) and character not in ",}] \t\r\n<":
            end += 1
        return end if end > at else -1
    scanner = JsonScanner()
    while not scanner.done:
        character = yield from source.char(at)
        if not character or not scanner.feed(character):
            return -1
        at += 1
    return at


def _stream(source: Source, sink: Sink) -> Steps[bool]:
    """Passes on the arguments, which begin here; whether they were whole."""
    scanner = JsonScanner()
    while not scanner.done and (yield from source.char(0)):
        count = good = 0
        arrived = source.piece(0, source.arrived)
        while not scanner.done and count < len(arrived):
            count += 1
            if not scanner.feed(arrived[count - 1]):
                break
            good = count
        sink.arguments(source.take(good))
        if good < count:
            return False
    return scanner.done


def _object_end(source: Source) -> Steps[int]:
    """The offset after the members that follow the arguments and the closing brace; 0 when they are not there."""
    at = yield from source.space(0)
    while (yield from source.literal(at, ",")):
        key, start = yield from _key(source, at + 1)
        end = -1 if key is None else (yield from _value_end(source, start))
        if end < 0:
            return 0
        at = yield from source.space(end)
    return at + 1 if (yield from source.literal(at, "}")) else 0
