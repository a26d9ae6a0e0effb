"""What the tool formats share: an answer's text with calls between <tool_call> and </tool_call>.

A call becomes one when its beginning is whole: its name and the first character of its arguments are there. Anything less, or
anything else, is text, given back to the last character. Newlines that the formats own, and which are dropped with a call:
those right before it, up to one after another call, and before the first call as many as the format writes.
"""

from dataclasses import dataclass
from typing import Protocol

from isotherm.text.delta import Sink
from isotherm.text.source import Source, Steps

OPEN, CLOSE = "<tool_call>", "</tool_call>"


@dataclass(frozen=True, slots=True)
class Head:
    """A call's whole beginning. end: where the body begins. arguments: set where the whole JSON text was seen already."""

    name: str
    end: int
    arguments: str | None = None


class ToolFormat(Protocol):
    """How one family of models writes a call. newlines: how many precede the first one after text."""

    newlines: int

    def head(self, source: Source, at: int) -> Steps[Head | None]:
        """Looks at the text after OPEN; None when no call begins there. Consumes nothing."""
        ...

    def body(self, source: Source, sink: Sink, head: Head) -> Steps[None]:
        """Reads the rest of a call, CLOSE included, from head.end."""
        ...


def answer(source: Source, sink: Sink, form: ToolFormat) -> Steps[None]:
    """Reads text and calls to the end."""
    owned = form.newlines
    wrote = False

    def text(piece: str) -> None:
        nonlocal wrote
        wrote = True
        sink.content(piece)

    while (run := (yield from source.until(OPEN, text))) >= 0:
        head = yield from form.head(source, run + len(OPEN))
        if head is None:
            text(source.take(run + 1))
            continue
        if wrote:
            owned = form.newlines
        sink.content("\n" * (run - owned))
        source.take(head.end)
        yield from form.body(source, sink, head)
        owned, wrote = 1, False


def plain(source: Source, sink: Sink) -> Steps[None]:
    """Reads text to the end; tags are text."""
    while True:
        sink.content(source.take(source.arrived))
        if source.ended:
            return
        yield


def close(source: Source) -> Steps[None]:
    """Consumes CLOSE and whitespace before it, or whitespace at the end of all text; anything else stays."""
    at = yield from source.space(0)
    if (yield from source.literal(at, CLOSE)):
        source.take(at + len(CLOSE))
    elif not (yield from source.char(at)):
        source.take(at)
