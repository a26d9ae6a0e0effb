"""The qwen3 reasoning format: <think>, a newline, reasoning, a newline, </think>, two newlines, answer.

Newlines that the format owns, and which are dropped: any before <think> and one after it, where the model wrote <think>
itself (a template that opens it has written them); one before </think>; up to two after it. Reasoning that is never closed is
reasoning to the end. <think> anywhere but at the start is text.
"""

from isotherm.text.delta import Sink
from isotherm.text.source import Source, Steps

OPEN, CLOSE = "<think>", "</think>"


def reasoning(source: Source, sink: Sink, is_open: bool) -> Steps[None]:
    """Reads the reasoning, if there is any. is_open: the template has written <think> already."""
    if not is_open:
        start = yield from _newlines(source, 0, None)
        if not (yield from source.literal(start, OPEN)):
            return
        source.take(start + len(OPEN))
        source.take((yield from _newlines(source, 0, 1)))
    run = yield from source.until(CLOSE, sink.reasoning)
    if run < 0:
        return
    sink.reasoning("\n" * (run - 1))
    source.take(run + len(CLOSE))
    source.take((yield from _newlines(source, 0, 2)))


def _newlines(source: Source, at: int, most: int | None) -> Steps[int]:
    """The offset after a run of newlines, of `most` at most."""
    while at != most and (yield from source.char(at)) == "\n":
        at += 1
    return at
