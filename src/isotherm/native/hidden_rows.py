"""The drafter anchor: the model's rows of a whole prefix, kept with its snapshot, so that a drafter can be brought up to it."""

from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from isotherm.cache.observer import Kind


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """What one pass made of one sequence from position `start` on: tokens [n] int32, rows [n, hidden] after the final norm."""

    start: int
    tokens: Tensor
    rows: Tensor

    @property
    def end(self) -> int:
        """The position after its last row."""
        return self.start + self.rows.shape[0]

    @property
    def bytes(self) -> int:
        """What it takes."""
        return self.tokens.nbytes + self.rows.nbytes

    def until(self, position: int) -> "Piece":
        """The rows before `position`, as a copy."""
        count = position - self.start
        return Piece(self.start, self.tokens[:count].clone(), self.rows[:count].clone())

    def since(self, position: int) -> "Piece":
        """Those from `position` on, as a copy."""
        skipped = max(0, position - self.start)
        return Piece(self.start + skipped, self.tokens[skipped:].clone(), self.rows[skipped:].clone())


def before(pieces: Sequence[Piece], position: int) -> list[Piece]:
    """The rows before `position`."""
    whole = [piece for piece in pieces if piece.end <= position]
    return whole + [piece.until(position) for piece in pieces if piece.start < position < piece.end]


class HiddenRows:
    """Pieces by slot, from position 0 to the slot's own, in at most so many bytes; those used longest ago go first.

    It observes the cache's slots: rows go with their snapshot. bytes: pieces that several slots share count once.
    """

    def __init__(self, most_bytes: int):
        self._most = most_bytes
        self._by_slot: OrderedDict[int, tuple[Piece, ...]] = OrderedDict()
        self._uses: Counter[Piece] = Counter()
        self.bytes = 0

    def has(self, slot: int) -> bool:
        """Whether the rows before the state in `slot` are kept."""
        return slot in self._by_slot

    def take(self, slot: int) -> tuple[Piece, ...]:
        """These rows; none when they are not kept. They count as new."""
        if slot in self._by_slot:
            self._by_slot.move_to_end(slot)
        return self._by_slot.get(slot, ())

    def keep(self, slot: int, pieces: Sequence[Piece]) -> None:
        """Keep the rows before a state that is being written to `slot`, in place of what was kept for the slot."""
        self.freed("slot", slot)
        self._by_slot[slot] = tuple(pieces)
        for piece in pieces:
            self.bytes += 0 if self._uses[piece] else piece.bytes
            self._uses[piece] += 1
        while self.bytes > self._most:
            self.freed("slot", next(iter(self._by_slot)))

    def freed(self, kind: Kind, identity: int) -> None:
        """A slot is free, and what belongs to it is of no more use."""
        for piece in self._by_slot.pop(identity, ()) if kind == "slot" else ():
            self._uses[piece] -= 1
            if not self._uses[piece]:
                del self._uses[piece]
                self.bytes -= piece.bytes

    def duplicate(self, kind: Kind, kept: int, duplicate: int) -> None:
        """Nothing: the slot that is released is told of as freed."""
