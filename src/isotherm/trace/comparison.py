"""Two traces of the same tokens, place by place."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isotherm.core.errors import TraceError
from isotherm.trace.printable import printable
from isotherm.trace.reader import Trace
from isotherm.trace.record import Ints
from isotherm.trace.values import Kept, Values, block_end, values_of

ABSENT, EQUAL, DIFFERENT, ONLY_A, ONLY_B = range(5)
"""What is known of a place: in neither trace, in both, or in one of them."""

Status = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many places both traces have, how many of these differ, and how many one of them alone has."""

    both: int
    different: int
    only_a: int
    only_b: int

    @classmethod
    def of(cls, status: Status) -> "Tally":
        """Counts of the five values."""
        counts = np.bincount(status.ravel(), minlength=5).tolist()
        return cls(counts[EQUAL] + counts[DIFFERENT], counts[DIFFERENT], counts[ONLY_A], counts[ONLY_B])


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """a, b: the traces by place. tokens: how many tokens they begin with in common; nothing beyond is compared.

    rows: [L+2, tokens] status of the embedding row, the row after each layer, and the logits.
    states: by position, [S]. blocks: by number, [K]. Columns are the header's names.
    """

    a: Values
    b: Values
    tokens: int
    rows: Status
    states: dict[int, Status]
    blocks: dict[int, Status]

    @property
    def layers(self) -> tuple[str, ...]:
        """The token mixer of each layer."""
        return self.a.trace.header.layers

    @property
    def diverged(self) -> bool:
        """Whether both go on, with other tokens."""
        return self.tokens < min(len(self.a.trace.tokens), len(self.b.trace.tokens))

    @property
    def tallies(self) -> dict[str, Tally]:
        """Counts by kind of place."""
        return {
            "hidden rows": Tally.of(self.rows[:-1]),
            "logits": Tally.of(self.rows[-1]),
            "states": Tally.of(_stacked(self.states)),
            "KV blocks": Tally.of(_stacked(self.blocks)),
        }

    @property
    def equal(self) -> bool:
        """Whether nothing that both have differs."""
        return not any(tally.different for tally in self.tallies.values())


def compare(a: Trace, b: Trace, *, any_build: bool = False, prefix: bool = False) -> Comparison:
    """Compare what both traces have. A place that one of them lacks (it was skipped through the cache) is not a difference.

    any_build: also when the builds differ, which may then be why. prefix: also when the prompts differ, as far as they agree.
    Raises TraceError when they cannot be compared.
    """
    _check_comparable(a, b, any_build, prefix)
    tokens = _common(a.tokens, b.tokens)
    if not tokens:
        raise TraceError(f"{printable(a.name)} and {printable(b.name)} cannot be compared: their first tokens differ")
    mine, theirs = values_of(a), values_of(b)
    both = (mine.rows[:, :tokens], theirs.rows[:, :tokens], mine.known[:, :tokens], theirs.known[:, :tokens])
    positions = {at for at in (*mine.states, *theirs.states) if at <= tokens}
    blocks = {block for block in (*mine.blocks, *theirs.blocks) if block_end(block) <= tokens}
    return Comparison(
        a=mine,
        b=theirs,
        tokens=tokens,
        rows=_status(*both),
        states={at: _kept(mine.states.get(at), theirs.states.get(at)) for at in sorted(positions)},
        blocks={block: _kept(mine.blocks.get(block), theirs.blocks.get(block)) for block in sorted(blocks)},
    )


def _check_comparable(a: Trace, b: Trace, any_build: bool, prefix: bool) -> None:
    names = f"{printable(a.name)} and {printable(b.name)} cannot be compared"
    for what in ("layers", "states", "blocks"):
        if getattr(a.header, what) != getattr(b.header, what):
            raise TraceError(f"{names}: they are of different models ({what})")
    if not any_build and a.header.build != b.header.build:
        keys = {key for key in a.header.build | b.header.build if a.header.build.get(key) != b.header.build.get(key)}
        raise TraceError(
            f"{names}: their builds differ in {printable(', '.join(sorted(keys - {'id'})))} (--any-build compares them)"
        )
    if not prefix and a.header.prompt != b.header.prompt:
        raise TraceError(f"{names}: their prompts differ (--prefix compares the tokens that both begin with)")


def _common(a: Ints, b: Ints) -> int:
    length = min(len(a), len(b))
    different = np.flatnonzero(a[:length] != b[:length])
    return int(different[0]) if len(different) else length


def _status(a: np.ndarray, b: np.ndarray, in_a: np.ndarray, in_b: np.ndarray) -> Status:
    together = np.where(a == b, EQUAL, DIFFERENT)
    return np.where(in_a & in_b, together, in_a * ONLY_A + in_b * ONLY_B).astype(np.uint8)


def _kept(a: Kept | None, b: Kept | None) -> Status:
    if a is not None and b is not None:
        return np.where(a.hashes == b.hashes, EQUAL, DIFFERENT).astype(np.uint8)
    one = a or b
    assert one is not None
    return np.full(one.hashes.shape, ONLY_B if a is None else ONLY_A, np.uint8)


def _stacked(kept: dict[int, Status]) -> Status:
    return np.stack(list(kept.values())) if kept else np.zeros((0, 0), np.uint8)
