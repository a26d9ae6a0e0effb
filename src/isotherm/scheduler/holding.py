"""What a sequence takes from the cache and gives back: entering, publishing, leaving."""

from isotherm.cache import Hit, PrefixCache
from isotherm.core.constants import BLOCK, NULL_BLOCK
from isotherm.core.layout import Layout
from isotherm.core.plan import Segment, StateWrite
from isotherm.scheduler.sequence import Sequence


def look_up(cache: PrefixCache, layout: Layout, sequence: Sequence) -> Hit:
    """What of the sequence's known tokens the cache has, or why it was not asked."""
    namespace = sequence.namespace
    if cache.enabled and sequence.request.skip_reading_prefix_cache:
        return Hit.declined(namespace, "opted_out")
    if cache.enabled and sequence.wants_scores:
        return Hit.declined(namespace, "prompt_logprobs")
    limit = layout.deepest_hit(sequence.length)
    tokens = layout.keys(sequence.tokens(0, sequence.length - 1), 0, sequence.prompt_length)
    return cache.lookup(namespace, tokens, limit)


def enter(cache: PrefixCache, layout: Layout, sequence: Sequence, hit: Hit) -> None:
    """Start from the hit: its blocks and its slot become the sequence's, or copies of them, made before its first pass."""
    cache.pin(hit)
    cache.touch(hit)
    sequence.computed = hit.tokens
    sequence.blocks, sequence.slot = cache.bring(hit)
    sequence.place = hit.place
    sequence.replay = hit.replay
    sequence.borrowed = hit.partial
    if cache.enabled:
        points = layout.prompt_snapshots(sequence.prompt_length, sequence.request.hint, hit.junction)
        sequence.points = tuple(point for point in points if point > hit.tokens)
    if sequence.first_hit is None:
        sequence.first_hit = hit


def advance(
    cache: PrefixCache, layout: Layout, sequence: Sequence, segment: Segment, publish: bool, rejected: int = 0
) -> None:
    """A pass has computed `segment`: move on to its last boundary, and show what was brought in for it and what of the prompt it
    finished.

    rejected: its last tokens that were not to come; no boundary lies beyond them.
    """
    sequence.computed = segment.end - rejected
    brought = cache.arrived(sequence.slot)
    if brought and publish:
        (sequence.slot,) = _publish(cache, layout, sequence, brought, (StateWrite(brought, sequence.slot),))
    if sequence.copy is not None:
        _give_back_borrowed(cache, sequence)
    if segment.writes:
        cache.release_slot(sequence.slot)
        sequence.slot = segment.writes[-1].slot
    optional = tuple(write.slot for write in segment.writes[:-1])
    if publish and segment.start < sequence.prompt_length:
        wanted = tuple(write for write in segment.writes if write.position in sequence.points)
        boundary = layout.published_of_prompt(sequence.computed, sequence.prompt_length)
        kept = dict(zip(wanted, _publish(cache, layout, sequence, boundary, wanted), strict=True))
        optional = tuple(kept.get(write, write.slot) for write in segment.writes[:-1])
        if segment.writes:
            sequence.slot = kept.get(segment.writes[-1], sequence.slot)
    for slot in optional:
        cache.release_slot(slot)


def leave(cache: PrefixCache, layout: Layout, sequence: Sequence, publish: bool = True) -> None:
    """Retire: publish everything computed, with the state at the last boundary, then give everything back."""
    boundary = layout.published_at_the_end(sequence.computed, sequence.prompt_length)
    if publish and boundary:
        (sequence.slot,) = _publish(cache, layout, sequence, boundary, (StateWrite(boundary, sequence.slot),))
    _give_back_borrowed(cache, sequence)
    cache.release_blocks(sequence.blocks)
    cache.release_blocks(sequence.shadowed)
    cache.release_slot(sequence.slot)
    sequence.clear()


def discard(cache: PrefixCache, layout: Layout, sequence: Sequence) -> None:
    """Leave without publishing, and take back what was: the sequence's values are not to be trusted."""
    namespace = sequence.namespace
    suspect = layout.keys(sequence.tokens(0, sequence.computed), 0, sequence.prompt_length)
    leave(cache, layout, sequence, publish=False)
    cache.withdraw(namespace, suspect)


def _give_back_borrowed(cache: PrefixCache, sequence: Sequence) -> None:
    if sequence.borrowed != NULL_BLOCK:
        cache.release_blocks((sequence.borrowed,))
        sequence.borrowed = NULL_BLOCK


def _publish(
    cache: PrefixCache, layout: Layout, sequence: Sequence, boundary: int, snapshots: tuple[StateWrite, ...]
) -> tuple[int, ...]:
    """Publish blocks up to `boundary`; the sequence goes on with the copies that are kept. The slots kept are returned."""
    place = sequence.place
    boundary = max(boundary, place.tokens)
    if not cache.enabled or (boundary == place.tokens and not snapshots):
        return tuple(write.slot for write in snapshots)
    first, last = place.tokens // BLOCK, boundary // BLOCK
    table = sequence.blocks
    tokens = layout.keys(sequence.tokens(place.tokens, boundary), place.tokens, sequence.prompt_length)
    published = cache.publish(place, tokens, table[first:last], snapshots)
    if published.blocks != table[first:last]:
        sequence.blocks = table[:first] + published.blocks + table[last:]
    sequence.place = published.place
    sequence.shadowed += published.shadowed
    return published.slots
