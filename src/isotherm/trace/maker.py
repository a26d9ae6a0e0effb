"""Which earlier request made what the cache gave."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isotherm.core.constants import BLOCK
from isotherm.trace.first import Difference
from isotherm.trace.origin import Origin, origin_of
from isotherm.trace.reader import Trace
from isotherm.trace.record import Computed, Hashes
from isotherm.trace.values import Values


@dataclass(frozen=True, slots=True)
class Maker:
    """The trace in which a restored state or block was computed, and how."""

    name: str
    origin: Origin


def maker_of(difference: Difference, side: Values, traces: Sequence[Trace]) -> Maker | None:
    """Looks for what `side` restored there among requests of the same engine: equal tokens, equal hashes, the earliest pass.

    None when nothing was restored there, or none of them computed it.
    """
    if difference.kind not in ("state", "block"):
        return None
    block = difference.start // BLOCK if difference.kind == "block" else None
    kept = side.states.get(difference.end) if block is None else side.blocks.get(block)
    if kept is None or isinstance(side.trace.records[kept.record], Computed):
        return None
    tokens, found = side.trace.tokens[: difference.end], []
    for trace in traces:
        if not np.array_equal(trace.tokens[: difference.end], tokens):
            continue
        for index, record in enumerate(trace.records):
            if isinstance(record, Computed) and _has(record, block, difference.end, kept.hashes):
                found.append((record.number, Maker(trace.name, origin_of(trace, index, difference.end - 1))))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _has(record: Computed, block: int | None, boundary: int, hashes: Hashes) -> bool:
    """Whether the record computed this block, or this boundary's state, with these hashes."""
    if block is not None:
        place = block - record.first_block
        return 0 <= place < len(record.blocks) and bool((record.blocks[place] == hashes).all())
    places = np.flatnonzero(record.boundaries == boundary)
    return bool(len(places)) and bool((record.states[places[0]] == hashes).all())
