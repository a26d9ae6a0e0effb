"""Letting a waiting sequence run: when, and from where."""

from isotherm.cache import Hit, PrefixCache
from isotherm.core.constants import ZERO_SLOT, block_floor, blocks_for
from isotherm.core.layout import Layout
from isotherm.scheduler.counters import Counters
from isotherm.scheduler.holding import enter, look_up
from isotherm.scheduler.passes import PassDraft
from isotherm.scheduler.roster import Roster
from isotherm.scheduler.sequence import Sequence


class Admission:
    """Admits in order of arrival, whoever heads the queue or nobody.

    A sequence is admitted when all its known tokens and one more fit, beside what the running ones still need for theirs. So
    blocks run short only as answers grow. With nobody running everything can be evicted, and the head always fits.
    """

    def __init__(self, cache: PrefixCache, layout: Layout, roster: Roster, counters: Counters):
        self._cache = cache
        self._layout = layout
        self._roster = roster
        self._counters = counters
        self._refused_at: tuple[int, int] | None = None

    def admit(self, draft: PassDraft) -> None:
        """Admit while the pass has tokens left, a lane is free and the head fits."""
        while draft.budget and self._roster.waiting and self._roster.has_lane:
            head = self._roster.waiting[0]
            if self._still_refused(head):
                return
            hit = look_up(self._cache, self._layout, head)
            if self._cache.is_coming(hit):
                return
            if not self._blocks_suffice(head, hit):
                self._refused_at = (head.number, self._cache.blocks.available)
                return
            if not self._slots_suffice(hit, draft.reach(head, hit.tokens)):
                return
            self._start(head, hit)
            draft.extend(head)

    def _start(self, sequence: Sequence, hit: Hit) -> None:
        if sequence.first_hit is None:
            self._counters.admitted(sequence.prompt_length, hit)
        enter(self._cache, self._layout, sequence, hit)
        self._roster.start(sequence)

    def _blocks_suffice(self, sequence: Sequence, hit: Hit) -> bool:
        reserved = sum(max(0, blocks_for(other.length + 1) - len(other.blocks)) for other in self._roster.running)
        needed = blocks_for(sequence.length + 1) - len(hit.blocks) + self._cache.idle_blocks(hit)
        return self._cache.blocks.available - reserved >= needed

    def _slots_suffice(self, hit: Hit, end: int) -> bool:
        """Whether there is a slot for the last boundary of its first segment, and one for a state that is brought in, once the
        hit's own is held."""
        pins_idle = hit.slot != ZERO_SLOT and not self._cache.slots.holders(hit.slot)
        needed = (block_floor(end) > hit.tokens) + (hit.host is not None)
        return not needed or self._cache.slots.available - pins_idle >= needed

    def _still_refused(self, head: Sequence) -> bool:
        """Whether blocks were short for the head, and none was freed since. Spares looking a long prompt up at every pass."""
        if self._refused_at is None or not self._roster.running:
            return False
        number, available = self._refused_at
        return number == head.number and self._cache.blocks.available <= available
