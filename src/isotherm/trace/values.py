"""A trace's hashes by place: what was last known of each row, state and block."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isotherm.core.constants import BLOCK
from isotherm.trace.reader import Trace
from isotherm.trace.record import Computed, Hashes, Ints

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
    """Lay the records out by place, later ones over earlier ones."""
    tokens, lanes = len(trace.tokens), len(trace.header.layers) + 2
    rows, known = np.zeros((lanes, tokens), np.uint64), np.zeros((lanes, tokens), bool)
    made = np.full(tokens, -1, np.int32)
    states: dict[int, Kept] = {}
    blocks: dict[int, Kept] = {}
    repeated = unequal = 0
    for index, record in enumerate(trace.records):
        if isinstance(record, Computed):
            part = slice(record.start, record.end)
            again = known[:-1, part]
            repeated += int(again.sum())
            unequal += int((again & (rows[:-1, part] != record.rows)).sum())
            rows[:-1, part], known[:-1, part], made[part] = record.rows, True, index
            places = record.start + record.logit_offsets
            rows[-1, places], known[-1, places] = record.logits, True
            states |= {int(at): Kept(record.states[i], index) for i, at in enumerate(record.boundaries)}
            first = record.first_block
        else:
            if record.snapshot:
                states[record.snapshot] = Kept(record.states, index)
            first = 0
        blocks |= {first + i: Kept(hashes, index) for i, hashes in enumerate(record.blocks)}
    return Values(trace, rows, known, made, states, blocks, repeated, unequal)


def block_end(block: int) -> int:
    """The position after a block's last token."""
    return (block + 1) * BLOCK
