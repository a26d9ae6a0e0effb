"""Planning one pass: who computes how many tokens, and where they go."""

from isotherm.cache import PrefixCache
from isotherm.core.constants import BLOCK, block_floor, blocks_for
from isotherm.core.layout import EXACT, Layout
from isotherm.core.plan import BlockCopy, PassPlan, Segment, StateWrite
from isotherm.scheduler.counters import Counters
from isotherm.scheduler.guesses import Guesses
from isotherm.scheduler.holding import leave
from isotherm.scheduler.roster import Roster
from isotherm.scheduler.rows import rows_for
from isotherm.scheduler.sequence import Sequence

NO_GUESSES = Guesses(None, 0)


class Part:
    """One sequence's share of a pass being planned, to `end`, and guesses after it.

    slot: for the last boundary it crosses, None when it crosses none. ahead: guesses wanted for what follows.
    """

    __slots__ = ("ahead", "copy", "drafts", "end", "sequence", "slot")

    def __init__(self, sequence: Sequence, end: int, slot: int | None, drafts: tuple[int, ...] = (), ahead: int = 0):
        self.copy: BlockCopy | None = sequence.copy
        self.ahead = ahead
        self.sequence = sequence
        self.end = end
        self.slot = slot
        self.drafts = drafts

    @property
    def boundary(self) -> int:
        """The last boundary at or before the end."""
        return block_floor(self.end)


class PassDraft:
    """A pass being planned: takes sequences one by one while its budget of tokens lasts."""

    def __init__(
        self,
        budget: int,
        cache: PrefixCache,
        roster: Roster,
        counters: Counters,
        layout: Layout = EXACT,
        guesses: Guesses = NO_GUESSES,
    ):
        self.budget = budget
        self._guesses = guesses
        self._layout = layout
        self._cache = cache
        self._roster = roster
        self._counters = counters
        self._parts: list[Part] = []
        self._planned: set[int] = set()

    def reach(self, sequence: Sequence, computed: int) -> int:
        """The position to which the budget would take a sequence that is computed so far; no further to leave it out."""
        return self._layout.segment_end(computed, sequence.length, sequence.prompt_length, self.budget)

    def extend(self, sequence: Sequence, others: int = 0) -> None:
        """Go on with a running sequence, if there is room; if blocks are short, later arrivals make room, or it does itself.

        others: how many more sequences want a row of this pass; guesses are not at their cost.
        """
        if not self.budget or not sequence.is_running:
            return
        end = self.reach(sequence, sequence.computed)
        if end == sequence.computed:
            return
        crosses = block_floor(end) > sequence.computed
        if crosses and not self._cache.slots.available:
            return
        missing = blocks_for(end) - len(sequence.blocks)
        if missing > 0:
            if not self._make_room(sequence, missing):
                return
            blocks = self._cache.allocate_blocks(missing)
            assert blocks is not None, "room was made, and there is none"
            sequence.blocks += blocks
        drafts = self._guesses.for_(sequence, self.budget - 1 - others) if sequence.remaining == 1 else ()
        ahead = self._guesses.ahead(sequence) if end == sequence.length else 0
        self._hold(sequence, end + len(drafts) + ahead)
        drafts = drafts[: BLOCK * len(sequence.blocks) - end]
        self._parts.append(Part(sequence, end, self._cache.allocate_slot() if crosses else None, drafts, ahead))
        self._planned.add(sequence.number)
        self.budget -= end - sequence.computed + len(drafts)

    def finish(self) -> PassPlan | None:
        """The pass as planned; None when nobody takes part."""
        optional = [self._optional_writes(part) if part.sequence.points else () for part in self._parts]
        segments = tuple([_segment(part, writes) for part, writes in zip(self._parts, optional, strict=True)])
        copies = tuple(part.copy for part in self._parts if part.copy is not None)
        return PassPlan(segments, copies, self._cache.moves()) if segments else None

    def _hold(self, sequence: Sequence, end: int) -> None:
        """Blocks up to `end` for guesses, where there are some to be had without a preemption; guesses do with what is held."""
        held = len(sequence.blocks)
        if end > held * BLOCK and (more := blocks_for(self._guesses.reach(end)) - held) > 0:
            sequence.blocks += self._cache.allocate_blocks(more) or ()

    def _make_room(self, sequence: Sequence, blocks: int) -> bool:
        """Preempt the latest arrivals until `blocks` can be had. False when `sequence` itself had to go.

        Sequences that this pass computes already are safe. A victim does not come back in this pass unless it held a block for
        guesses: it needs more than it gave, of which `sequence` takes a part, or it is `sequence` and lacked some before. The
        oldest sequence not yet planned never goes unless others are planned, since all memory that they do not hold is then its
        own: so a pass with work to do is never empty.
        """
        while self._cache.blocks.available < blocks:
            victim = next(s for s in reversed(self._roster.running) if s.number not in self._planned)
            leave(self._cache, self._layout, victim)
            self._roster.stop(victim)
            self._roster.wait(victim)
            self._counters.preemptions += 1
            if victim is sequence:
                return False
        return True

    def _optional_writes(self, part: Part) -> tuple[StateWrite, ...]:
        """Snapshots on the way, from what slots are left once every sequence has the one that it needs."""
        sequence, writes = part.sequence, []
        for point in sequence.points:
            if sequence.computed < point < part.boundary:
                slot = self._cache.allocate_slot()
                if slot is None:
                    self._counters.skipped_snapshots += 1
                else:
                    writes.append(StateWrite(point, slot))
        return tuple(writes)


def _segment(part: Part, optional: tuple[StateWrite, ...]) -> Segment:
    sequence = part.sequence
    return Segment(
        sequence=sequence.number,
        lane=sequence.lane,
        start=sequence.computed,
        tokens=sequence.tokens(sequence.computed, part.end) + part.drafts,
        blocks=sequence.blocks,
        state=sequence.slot,
        writes=optional if part.slot is None else (*optional, StateWrite(part.boundary, part.slot)),
        rows=rows_for(sequence, part.end, part.drafts),
        drafts=len(part.drafts),
        ahead=part.ahead,
        replay=sequence.replay if sequence.replay is not None and sequence.replay.touches(sequence.computed) else None,
    )
