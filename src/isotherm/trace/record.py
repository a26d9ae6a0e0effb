"""What a trace file holds: a header, then what was restored and what was computed, in the order in which it happened."""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Ints = NDArray[np.int32]


class Phase(IntEnum):
    """Why a segment was computed."""

    PREFILL = 0
    DECODE = 1
    VERIFY = 2


@dataclass(frozen=True, slots=True)
class Header:
    """One request on one build.

    prompt: token ids. build: the engine's fingerprint. layers: the token mixer of each layer, L names. states, blocks: what is
    kept at a boundary and in a block, each named "layer.name", S and K of them; the order is that of the hashes in records.
    """

    request: str
    prompt: tuple[int, ...]
    layers: tuple[str, ...]
    states: tuple[str, ...]
    blocks: tuple[str, ...]
    build: dict[str, str] = field(default_factory=dict)
    choice: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Restored:
    """A cache hit, taken before pass `number` was computed.

    cached: tokens that were skipped. snapshot: the boundary whose state was restored. states: [S] hashes of that state.
    blocks: [B, K] hashes of the blocks taken over, from block 0; they may reach beyond the snapshot.
    """

    number: int
    cached: int
    snapshot: int
    states: Hashes
    blocks: Hashes


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """One segment of pass `number`: the request's tokens at start..start+n.

    replay: how many of its first rows were computed only to bring the state forward, their keys and values being there already.
    segments, rows_in_pass: what the whole pass computed, this segment included.
    rows: [L+1, n] hashes of the embedding row and of the row after each layer.
    logit_offsets: [R] rows of the segment whose logits were made; logits: [R] their hashes.
    boundaries: [W] where state was kept; states: [W, S] its hashes.
    first_block, blocks: [B, K] hashes of the blocks that this segment filled.
    """

    number: int
    phase: Phase
    start: int
    tokens: Ints
    replay: int
    segments: int
    rows_in_pass: int
    rows: Hashes
    logit_offsets: Ints
    logits: Hashes
    boundaries: Ints
    states: Hashes
    first_block: int
    blocks: Hashes

    @property
    def end(self) -> int:
        """The position after its last token."""
        return self.start + len(self.tokens)


@dataclass(frozen=True, slots=True)
class Ended:
    """How the request ended, and the tokens that were generated; the last of these has not been computed."""

    reason: str
    generated: tuple[int, ...]


Record = Restored | Computed | Ended
