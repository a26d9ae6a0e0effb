"""Lookup, pin, publish, withdraw, evict: the whole cache on small pools."""

import pytest

from isotherm.cache import Hit, Namespace, Place, PrefixCache
from isotherm.core.plan import StateWrite

HERE = Namespace()


class Events:
    """An observer that writes down what it is told."""

    def __init__(self) -> None:
        self.duplicates: list[tuple[str, int, int]] = []
        self.gone: list[tuple[str, int]] = []

    def duplicate(self, kind: str, kept: int, duplicate: int) -> None:
        self.duplicates.append((kind, kept, duplicate))

    def freed(self, kind: str, identity: int) -> None:
        self.gone.append((kind, identity))


def tokens(symbols: str) -> tuple[int, ...]:
    """64 tokens a letter."""
    return tuple(ord(symbol) for symbol in symbols for _ in range(64))


def look(cache: PrefixCache, symbols: str, namespace: Namespace = HERE, limit: int | None = None) -> Hit:
    prompt = tokens(symbols)
    return cache.lookup(namespace, prompt, len(prompt) if limit is None else limit)


def plant(cache: PrefixCache, symbols: str, snapshots: tuple[int, ...], namespace: Namespace = HERE) -> tuple[int, ...]:
    """Write, publish and release `symbols` with snapshots after these blocks. The blocks kept."""
    blocks = cache.allocate_blocks(len(symbols))
    slots = [cache.allocate_slot() for _ in snapshots]
    assert blocks is not None and None not in slots
    writes = [StateWrite(64 * depth, slot or 0) for depth, slot in zip(snapshots, slots, strict=True)]
    published = cache.publish(Place(namespace), tokens(symbols), blocks, writes)
    cache.release_blocks(published.blocks)
    for slot in published.slots:
        cache.release_slot(slot)
    cache.check([], [])
    return published.blocks


def test_a_hit_is_the_deepest_block_with_a_snapshot() -> None:
    cache = PrefixCache(10, 10)
    blocks = plant(cache, "abcd", (1, 3, 4))
    hit = look(cache, "abcx")
    assert (hit.tokens, hit.blocks, hit.matched, hit.reason) == (192, blocks[:3], 192, None)
    hit = look(cache, "abxx")
    assert (hit.tokens, hit.blocks, hit.matched, hit.junction) == (64, blocks[:1], 128, 128)


def test_a_hit_is_no_deeper_than_the_limit() -> None:
    cache = PrefixCache(10, 10)
    plant(cache, "abc", (2, 3))
    assert look(cache, "abc", limit=128).tokens == 128
    assert look(cache, "abc", limit=64).reason == "no_snapshot"


@pytest.mark.parametrize(
    ("symbols", "limit", "reason"),
    [("x", 64, "no_match"), ("ab", 64, "no_snapshot"), ("ab", 0, "too_short")],
)
def test_a_hit_of_nothing_says_why(symbols: str, limit: int, reason: str) -> None:
    cache = PrefixCache(10, 10)
    plant(cache, "abc", (3,))
    hit = look(cache, symbols, limit=limit)
    assert (hit.tokens, hit.blocks, hit.slot, hit.reason) == (0, (), 0, reason)


def test_a_lookup_changes_nothing() -> None:
    cache = PrefixCache(4, 2)
    plant(cache, "ab", (2,))
    plant(cache, "cd", (2,))
    for _ in range(5):
        look(cache, "ab")
        look(cache, "zz", Namespace("", "new"))
    cache.check([], [])
    plant(cache, "ef", (2,))
    assert (look(cache, "ab").tokens, look(cache, "cd").tokens) == (0, 128), "looking at ab did not keep it"


def test_a_touch_keeps_what_is_used() -> None:
    cache = PrefixCache(4, 2)
    plant(cache, "ab", (2,))
    plant(cache, "cd", (2,))
    cache.touch(look(cache, "ab"))
    plant(cache, "ef", (2,))
    assert (look(cache, "ab").tokens, look(cache, "cd").tokens) == (128, 0)


def test_publishing_what_is_there_counts_as_using_it() -> None:
    cache = PrefixCache(8, 3)
    for symbols in ("ab", "cd", "ab", "ef", "gh"):
        plant(cache, symbols, (2,))
    assert (look(cache, "ab").tokens, look(cache, "cd").tokens) == (128, 0)


def test_the_first_copy_is_kept_and_the_duplicate_freed() -> None:
    events = Events()
    cache = PrefixCache(10, 10, observer=events)
    kept = plant(cache, "ab", (2,))
    again = cache.allocate_blocks(2)
    slot = cache.allocate_slot()
    assert again is not None and slot is not None
    published = cache.publish(Place(HERE), tokens("ab"), again, [StateWrite(128, slot)])
    assert published.blocks == kept
    assert events.duplicates == [("block", kept[0], again[0]), ("block", kept[1], again[1]), ("slot", 1, slot)]
    assert events.gone == [("block", again[0]), ("block", again[1]), ("slot", slot)]
    cache.check(kept, published.slots)


def test_publication_goes_on_from_a_place() -> None:
    cache = PrefixCache(10, 10)
    blocks = cache.allocate_blocks(3) or ()
    slot = cache.allocate_slot() or 0
    first = cache.publish(Place(HERE), tokens("a"), blocks[:1])
    assert look(cache, "abc").matched == 64
    last = cache.publish(first.place, tokens("bc"), blocks[1:], [StateWrite(192, slot)])
    assert (last.place.tokens, look(cache, "abc").blocks) == (192, blocks)


def test_a_snapshot_can_be_added_where_blocks_are_already_published() -> None:
    cache = PrefixCache(10, 10)
    blocks = cache.allocate_blocks(2) or ()
    slot = cache.allocate_slot() or 0
    place = cache.publish(Place(HERE), tokens("ab"), blocks).place
    cache.publish(place, (), (), [StateWrite(128, slot)])
    assert look(cache, "ab").slot == slot


@pytest.mark.parametrize("position", [0, 100, 192])
def test_a_snapshot_off_the_published_boundaries_is_refused(position: int) -> None:
    cache = PrefixCache(10, 10)
    blocks = cache.allocate_blocks(2) or ()
    slot = cache.allocate_slot() or 0
    with pytest.raises(ValueError, match="not boundaries"):
        cache.publish(Place(HERE), tokens("ab"), blocks, [StateWrite(position, slot)])


def test_the_zero_slot_is_no_snapshot() -> None:
    cache = PrefixCache(10, 10)
    with pytest.raises(ValueError, match="zero slot"):
        cache.publish(Place(HERE), tokens("a"), cache.allocate_blocks(1) or (), [StateWrite(64, 0)])


def test_nothing_that_is_held_is_evicted() -> None:
    cache = PrefixCache(4, 3)
    plant(cache, "ab", (2,))
    hit = look(cache, "ab")
    cache.pin(hit)
    assert cache.allocate_blocks(3) is None
    assert cache.allocate_blocks(2) is not None
    assert [cache.allocate_slot() is None for _ in range(3)] == [False, False, True]
    assert look(cache, "ab").tokens == 128


def test_a_hit_that_was_evicted_before_it_was_pinned_is_refused() -> None:
    cache = PrefixCache(2, 1)
    plant(cache, "ab", (2,))
    hit = look(cache, "ab")
    plant(cache, "cd", (2,))
    with pytest.raises(ValueError, match="evicted"):
        cache.pin(hit)


def test_evicting_a_snapshot_frees_the_blocks_that_only_it_made_useful() -> None:
    cache = PrefixCache(10, 2)
    plant(cache, "abcd", (1, 4))
    slot = cache.allocate_slot()
    assert cache.slots.used == 2
    assert look(cache, "abcd").tokens in (0, 256)
    assert cache.allocate_slot() is not None
    assert (cache.blocks.used, look(cache, "abcd").matched) == (0, 0)
    assert slot is not None


def test_a_snapshot_between_others_frees_no_block() -> None:
    cache = PrefixCache(10, 2)
    plant(cache, "abcd", (1, 4))
    cache.allocate_slot()
    assert (cache.blocks.used, look(cache, "abcd").tokens) == (4, 256), "the one at 64 saves least and goes"


def test_a_conversation_keeps_its_end_longest() -> None:
    cache = PrefixCache(40, 4)
    plant(cache, "abcdefghijkl", (4, 8, 10, 12))
    for symbols, kept in (("xy", {4, 8, 12}), ("yz", {8, 12}), ("zx", {12})):
        cache.touch(look(cache, "abcdefghijkl"))
        plant(cache, symbols, (2,))
        assert {depth for depth in range(1, 13) if look(cache, "abcdefghijkl"[:depth]).tokens == 64 * depth} == kept


def test_blocks_that_a_sequence_leaves_without_a_snapshot_below_do_not_stay() -> None:
    cache = PrefixCache(10, 2)
    plant(cache, "a", (1,))
    blocks = cache.allocate_blocks(3) or ()
    held = cache.publish(Place(HERE), tokens("abc"), blocks).blocks
    assert look(cache, "abc").matched == 192
    cache.release_blocks(held)
    assert look(cache, "abc").matched == 64
    cache.check([], [])


def test_a_shortage_of_blocks_takes_leaves_and_leaves_what_they_hang_from() -> None:
    cache = PrefixCache(5, 5)
    plant(cache, "ab", (1, 2))
    plant(cache, "acd", (3,))
    assert cache.allocate_blocks(2) is not None
    assert look(cache, "a").tokens == 64


def test_withdrawing_forgets_a_path_up_to_what_is_shared_or_held() -> None:
    cache = PrefixCache(10, 10)
    plant(cache, "abc", (1, 3))
    plant(cache, "axy", (3,))
    cache.withdraw(HERE, tokens("abcd"))
    assert (look(cache, "abc").matched, look(cache, "axy").tokens) == (64, 192)
    hit = look(cache, "axy")
    cache.pin(hit)
    cache.withdraw(HERE, tokens("axy"))
    assert look(cache, "axy").tokens == 192


def test_a_salt_and_an_adapter_are_roots_of_their_own() -> None:
    cache = PrefixCache(10, 10)
    plant(cache, "ab", (2,), Namespace("", "secret"))
    assert look(cache, "ab").matched == 0
    assert look(cache, "ab", Namespace("secret", "")).matched == 0
    assert look(cache, "ab", Namespace("", "secret")).tokens == 128


def test_disabled_keeps_nothing_and_still_hands_out_ids() -> None:
    cache = PrefixCache(4, 2, enabled=False)
    plant(cache, "ab", (2,))
    assert look(cache, "ab").reason == "disabled"
    assert (cache.blocks.free, cache.slots.free) == (4, 2)
