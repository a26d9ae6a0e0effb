"""The first difference: the earliest value that differs though everything it is computed from is equal.

A value's inputs are

    embedding row at p            nothing
    row after layer l at p        rows after layer l-1 at 0..p; the state and the KV blocks of layer l at and before p
    KV block of layer l           rows after layer l-1 at the block's own 64 positions
    state of layer l at p         rows after layer l-1 at 0..p-1; the states of layer l before p
    logits at p                   the row after the last layer at p

An input that one of the traces lacks counts as equal: what the cache spared is then represented by the state and the blocks that
it gave instead. A value that differs while none of its inputs does cannot have got its difference from elsewhere in the trace;
every other difference follows from such a one. Of several, the first by position is named, then by layer, then states before
blocks before rows.

A row stands at its position. A state stands at the beginning of the stretch over which it was brought to its boundary: from the
last boundary before it at which both have equal states, or else from the first position that both computed all the way from. (It
is kept in float32, so it shows what rows, rounded to 16 bits, may not.) A state that one of them restored stands at its boundary.
A block stands at the first row of its layer, from its own beginning on, that differs, which is the row that read the wrong key;
or at its last position when no row shows it.
"""

from dataclasses import dataclass

import numpy as np

from isotherm.core.constants import BLOCK
from isotherm.trace.comparison import DIFFERENT, EQUAL, Comparison, Status
from isotherm.trace.origin import Origin, origin_of, row_origin
from isotherm.trace.record import Computed
from isotherm.trace.values import Kept, Values, block_end

NEVER = 1 << 62


@dataclass(frozen=True, slots=True)
class Difference:
    """layer: -1 for the embedding, L for the logits. kind: "state", "block", "row" or "logits".

    position: where it stands, as above. start, end: the positions of a block, or the stretch to a state's boundary `end`.
    tensors: the names that differ there. a, b: where either trace has it from.
    """

    position: int
    layer: int
    kind: str
    tensors: tuple[str, ...]
    start: int
    end: int
    a: Origin
    b: Origin


def first_difference(comparison: Comparison) -> Difference | None:
    """None when nothing differs."""
    return next(iter(unexplained(comparison)), None)


def unexplained(comparison: Comparison) -> tuple[Difference, ...]:
    """Every difference without a different input, the first of each kind and layer, in the order above."""
    return tuple(sorted(_Search(comparison).found(), key=_order))


def _order(difference: Difference) -> tuple[int, int, int]:
    return difference.position, difference.layer, ("state", "block", "row", "logits").index(difference.kind)


class _Search:
    """Finds, layer by layer, the first value of each kind that has no different input."""

    def __init__(self, comparison: Comparison):
        self._comparison = comparison
        self._firsts = [_first(lane) for lane in comparison.rows]
        header = comparison.a.trace.header
        self._states = _by_layer(header.states)
        self._blocks = _by_layer(header.blocks)

    def found(self) -> list[Difference]:
        layers = range(len(self._comparison.layers))
        candidates = [self._row(-1), *map(self._row, layers), *map(self._state, layers), *map(self._block, layers)]
        return [item for item in (*candidates, self._logits()) if item is not None]

    def _row(self, layer: int) -> Difference | None:
        at = self._after(layer)
        if at == NEVER or (layer >= 0 and self._after(layer - 1) <= at):
            return None
        block = self._block(layer)
        if self._first_state(layer) <= at or (block is not None and block.start <= at):
            return None
        return self._of_row(at, layer, "row", "embedding" if layer < 0 else "hidden")

    def _logits(self) -> Difference | None:
        lanes = self._comparison.rows
        alone = (lanes[-1] == DIFFERENT) & (lanes[-2] != DIFFERENT)
        at = int(np.argmax(alone))
        return self._of_row(at, len(self._comparison.layers), "logits", "logits") if alone.any() else None

    def _state(self, layer: int) -> Difference | None:
        at = self._first_state(layer)
        if at == NEVER or self._after(layer - 1) < at:
            return None
        names = _different(self._comparison.states[at], self._states[layer])
        start = self._stretch(layer, at)
        a, b = (self._kept(side.states[at], side, start) for side in (self._comparison.a, self._comparison.b))
        return Difference(start, layer, "state", names, start, at, a, b)

    def _stretch(self, layer: int, boundary: int) -> int:
        """From where a state was brought to `boundary`."""
        columns = [column for column, _ in self._states[layer]]
        states = self._comparison.states.items()
        equal = [at for at, status in states if at < boundary and (status[columns] == EQUAL).all()]
        missing = np.flatnonzero(self._comparison.rows[0, :boundary] > DIFFERENT)
        return int(max([0, *equal, *(missing[-1:] + 1)]))

    def _block(self, layer: int) -> Difference | None:
        """The first block whose own rows do not explain it."""
        before, after = self._comparison.rows[layer], self._comparison.rows[layer + 1]
        for block, status in self._comparison.blocks.items():
            names = _different(status, self._blocks.get(layer, ()))
            start, end = block * BLOCK, block_end(block)
            if not names or (before[start:end] == DIFFERENT).any():
                continue
            shown = _first(after[start:])
            position = end - 1 if shown == NEVER else start + shown
            a, b = (self._kept(side.blocks[block], side, end - 1) for side in (self._comparison.a, self._comparison.b))
            return Difference(position, layer, "block", names, start, end, a, b)
        return None

    def _of_row(self, at: int, layer: int, kind: str, name: str) -> Difference:
        a, b = row_origin(self._comparison.a, at), row_origin(self._comparison.b, at)
        return Difference(at, layer, kind, (name,), at, at + 1, a, b)

    def _kept(self, kept: Kept, side: Values, position: int) -> Origin:
        """A state that was brought to its boundary in several passes is from the first of them."""
        record = side.trace.records[kept.record]
        if isinstance(record, Computed) and position < record.start:
            return row_origin(side, position)
        return origin_of(side.trace, kept.record, position)

    def _after(self, layer: int) -> int:
        """The first position at which the rows after a layer differ."""
        return self._firsts[layer + 1]

    def _first_state(self, layer: int) -> int:
        columns = self._states.get(layer, ())
        return next((at for at, status in self._comparison.states.items() if _different(status, columns)), NEVER)


Column = tuple[int, str]


def _by_layer(names: tuple[str, ...]) -> dict[int, tuple[Column, ...]]:
    """ "3.k" as column 0 of layer 3, named "k"."""
    columns: dict[int, tuple[Column, ...]] = {}
    for column, name in enumerate(names):
        layer, _, tensor = name.partition(".")
        columns[int(layer)] = (*columns.get(int(layer), ()), (column, tensor))
    return columns


def _different(status: Status, columns: tuple[Column, ...]) -> tuple[str, ...]:
    return tuple(name for column, name in columns if status[column] == DIFFERENT)


def _first(status: Status) -> int:
    places = np.flatnonzero(status == DIFFERENT)
    return int(places[0]) if len(places) else NEVER
