"""How the positions of a request came about, as stretches: skipped, replayed, prefilled, decoded."""

from dataclasses import dataclass

from isotherm.trace.origin import Origin, origin_of
from isotherm.trace.reader import Trace
from isotherm.trace.record import Computed


@dataclass(frozen=True, slots=True)
class Span:
    """Positions start..end. how: as in Origin. title: what to say of it."""

    start: int
    end: int
    how: str
    title: str


def spans(trace: Trace, tokens: int) -> list[Span]:
    """In the order in which they happened, positions below `tokens`; decode steps in a row are one."""
    found: list[Span] = []
    decoding: list[Origin] = []
    for index, record in enumerate(trace.records):
        if not isinstance(record, Computed):
            found += _decoded(decoding)
            found.append(
                Span(
                    0,
                    record.cached,
                    "skipped",
                    str(Origin("restored", record.number, cached=record.cached, snapshot=record.snapshot)),
                )
            )
            continue
        parts = [origin_of(trace, index, record.start)]
        if 0 < record.replay < len(record.tokens):
            parts.append(origin_of(trace, index, record.start + record.replay))
        for origin in parts:
            if origin.how == "decode" and (not decoding or decoding[-1].end == origin.start):
                decoding.append(origin)
                continue
            found += _decoded(decoding)
            if origin.how == "decode":
                decoding.append(origin)
            else:
                found.append(Span(origin.start, origin.end, origin.how, str(origin)))
    found += _decoded(decoding)
    return [Span(span.start, min(span.end, tokens), span.how, span.title) for span in found if span.start < tokens]


def _decoded(steps: list[Origin]) -> list[Span]:
    """The decode steps gathered so far as one span; empties the list."""
    if not steps:
        return []
    start, end = steps[0].start, steps[-1].end
    title = f"passes {steps[0].number}..{steps[-1].number}, decode of positions {start}..{end - 1}, one token each"
    steps.clear()
    return [Span(start, end, "decode", title)]
