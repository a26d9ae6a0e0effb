"""A trace's hashes by place: what was last known of each row, state and block."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isotherm.core.constants import BLOCK
from isotherm.trace.reader import Trace
from isotherm.trace.record import Computed, Hashes, Ints, Restored

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Hashes of one state or block, one a tensor, and the record that they are from."""

    hashes: Hashes
    record: int


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """T positions of a model of L layers. A place that was computed again has its last value, which is what came after used.

    rows: [L+2, T] the embedding row, the row after each layer, the logits. known: [L+2, T] whether there is one.
    made: [T] the record (an index into trace.records) that computed each position, -1 for none.
    states: by position. blocks: by number. repeated, unequal: how often a row was computed again, and got another hash.
    """

    trace: Trace
    rows: Hashes
    known: Flags
    made: Ints
    states: dict[int, Kept]
    blocks: dict[int, Kept]
    repeated: int
    unequal: int


def values_of(trace: Trace) -> Values:
    """Lay the records out by place, later ones over earlier ones; without rejected drafts and the rows after them."""
    laid = _Laying(trace)
    for index, record in enumerate(trace.records):
        if isinstance(record, Computed):
            laid.computed(index, record)
        else:
            laid.restored(index, record)
    return Values(trace, laid.rows, laid.known, laid.made, laid.states, laid.blocks, laid.repeated, laid.unequal)


class _Laying:
    """The arrays while they are filled."""

    def __init__(self, trace: Trace):
        self._tokens = trace.tokens
        lanes = len(trace.header.layers) + 2
        self.rows = np.zeros((lanes, len(self._tokens)), np.uint64)
        self.known = np.zeros((lanes, len(self._tokens)), bool)
        self.made = np.full(len(self._tokens), -1, np.int32)
        self.states: dict[int, Kept] = {}
        self.blocks: dict[int, Kept] = {}
        self.repeated = self.unequal = 0

    def computed(self, index: int, record: Computed) -> None:
        """The record as far as its tokens are the sequence's."""
        count = self._kept(record)
        part, rows = slice(record.start, record.start + count), record.rows[:, :count]
        again = self.known[:-1, part]
        self.repeated += int(again.sum())
        self.unequal += int((again & (self.rows[:-1, part] != rows)).sum())
        self.rows[:-1, part], self.known[:-1, part], self.made[part] = rows, True, index
        logits = record.logit_offsets < count
        places = record.start + record.logit_offsets[logits]
        self.rows[-1, places], self.known[-1, places] = record.logits[logits], True
        for i, at in enumerate(record.boundaries.tolist()):
            if at <= part.stop:
                self.states[at] = Kept(record.states[i], index)
        for i, hashes in enumerate(record.blocks):
            if block_end(record.first_block + i) <= part.stop:
                self.blocks[record.first_block + i] = Kept(hashes, index)

    def restored(self, index: int, record: Restored) -> None:
        """The hit's blocks and state."""
        if record.snapshot:
            self.states[record.snapshot] = Kept(record.states, index)
        self.blocks |= {i: Kept(hashes, index) for i, hashes in enumerate(record.blocks)}

    def _kept(self, record: Computed) -> int:
        """How many of its tokens, from the first, are the sequence's: the others were drafts, and were rejected."""
        tokens = self._tokens[record.start : record.end]
        wrong = np.flatnonzero(record.tokens[: len(tokens)] != tokens)
        return int(wrong[0]) if len(wrong) else len(tokens)


def block_end(block: int) -> int:
    """The position after a block's last token."""
    return (block + 1) * BLOCK
