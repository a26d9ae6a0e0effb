"""A cache with a host tier, step by step: what leaves, what comes back, and what is held meanwhile."""

import pytest

from isotherm.cache import Hit, Namespace, Place, TieredPrefixCache
from isotherm.core.plan import NO_COPIES, HostCopies, StateWrite

HERE = Namespace()


def tokens(symbols: str) -> tuple[int, ...]:
    """64 tokens a letter."""
    return tuple(ord(symbol) for symbol in symbols for _ in range(64))


def look(cache: TieredPrefixCache, symbols: str) -> Hit:
    return cache.lookup(HERE, tokens(symbols), 64 * len(symbols))


def plant(cache: TieredPrefixCache, symbols: str, snapshots: tuple[int, ...]) -> HostCopies:
    """Write, publish and release `symbols` with snapshots after these blocks; the copies that made room, which have completed."""
    blocks = cache.allocate_blocks(len(symbols))
    slots = [cache.allocate_slot() for _ in snapshots]
    assert blocks is not None and None not in slots
    copies = cache.moves()
    cache.check(blocks, [slot for slot in slots if slot])
    cache.moved()
    writes = [StateWrite(64 * depth, slot or 0) for depth, slot in zip(snapshots, slots, strict=True)]
    published = cache.publish(Place(HERE), tokens(symbols), blocks, writes)
    cache.release_blocks(published.blocks)
    for slot in published.slots:
        cache.release_slot(slot)
    cache.check([], [])
    return copies


def reload(cache: TieredPrefixCache, hit: Hit) -> HostCopies:
    """Bring the hit in, let the pass complete, publish it, and leave."""
    cache.pin(hit)
    blocks, slot = cache.bring(hit)
    copies = cache.moves()
    cache.check(blocks, [slot])
    cache.moved()
    assert cache.arrived(slot) == hit.tokens and cache.arrived(slot) == 0
    rest = blocks[len(hit.blocks) :]
    path = tuple(token for node in hit.host.place.node.path() for token in node.tokens) if hit.host else ()
    done = cache.publish(hit.place, path[hit.place.tokens :], rest, [StateWrite(hit.tokens, slot)])
    cache.release_blocks(hit.blocks + done.blocks)
    cache.release_slot(done.slots[0])
    cache.check([], [])
    return copies


def test_what_is_evicted_is_found_in_the_host_and_comes_back() -> None:
    cache = TieredPrefixCache(4, 2, 10, 5)
    assert plant(cache, "abc", (3,)) == HostCopies()
    out = plant(cache, "xyz", (3,))
    assert (len(out.blocks_out), len(out.slots_out)) == (3, 1)
    hit = look(cache, "abc")
    assert (hit.tokens, hit.matched, hit.blocks, hit.slot, hit.reason) == (192, 192, (), 0, None)
    assert hit.host is not None and hit.host.blocks == tuple(target for _, target in out.blocks_out)
    back = reload(cache, hit)
    assert [source for source, _ in back.blocks_in] == list(hit.host.blocks)
    assert [source for source, _ in back.slots_in] == [hit.host.slot]
    here = look(cache, "abc")
    assert (here.tokens, here.host) == (192, None)


def test_what_the_device_still_has_is_not_copied_back() -> None:
    cache = TieredPrefixCache(6, 2, 10, 5)
    plant(cache, "abcd", (2, 4))
    plant(cache, "wxyz", (4,))
    hit = look(cache, "abcd")
    assert hit.host is not None and len(hit.blocks) == 2 and hit.place.tokens == 128
    back = reload(cache, hit)
    assert [source for source, _ in back.blocks_in] == list(hit.host.blocks[2:])


def test_nothing_is_found_in_the_host_before_its_copy_has_completed() -> None:
    cache = TieredPrefixCache(3, 1, 10, 5)
    plant(cache, "abc", (3,))
    blocks = cache.allocate_blocks(3)
    assert look(cache, "abc").tokens == 0
    cache.moves()
    assert look(cache, "abc").tokens == 0
    cache.moved()
    assert look(cache, "abc").tokens == 192
    cache.check(blocks, [])


def test_a_path_that_two_evictions_share_is_copied_once() -> None:
    cache = TieredPrefixCache(4, 2, 10, 5)
    plant(cache, "abc", (2, 3))
    blocks = cache.allocate_blocks(4)
    out = cache.moves()
    cache.moved()
    assert (len(out.blocks_out), len(out.slots_out)) == (3, 2)
    assert (look(cache, "ab").tokens, look(cache, "abc").tokens) == (128, 192)
    cache.check(blocks, [])


def test_what_the_host_has_already_is_not_copied_again() -> None:
    cache = TieredPrefixCache(4, 2, 10, 5)
    plant(cache, "abc", (3,))
    plant(cache, "xyz", (3,))
    reload(cache, look(cache, "abc"))
    assert plant(cache, "uvw", (3,)) == HostCopies()
    assert look(cache, "abc").tokens == look(cache, "xyz").tokens == 192


def test_the_host_is_bounded_and_evicts_by_the_same_rules() -> None:
    cache = TieredPrefixCache(3, 1, 4, 2)
    for symbols in ("abc", "xyz", "uvw"):
        plant(cache, symbols, (3,))
    assert [look(cache, symbols).tokens for symbols in ("abc", "xyz", "uvw")] == [0, 192, 192]
    assert (cache.host_stats().blocks_used, cache.host_stats().slots_used) == (3, 1)


def test_a_path_longer_than_the_host_is_lost_and_counted() -> None:
    cache = TieredPrefixCache(4, 2, 2, 2)
    plant(cache, "abc", (3,))
    assert plant(cache, "xyz", (3,)) == HostCopies()
    stats = cache.host_stats()
    assert (look(cache, "abc").reason, stats.lost_snapshots, stats.blocks_used) == ("no_match", 1, 0)


def test_blocks_of_no_use_do_not_go_to_the_host() -> None:
    cache = TieredPrefixCache(4, 2, 10, 5)
    plant(cache, "ab", (2,))
    held = cache.publish(Place(HERE), tokens("cd"), cache.allocate_blocks(2) or ()).blocks
    cache.release_blocks(held)
    assert cache.moves() == HostCopies() and cache.host_stats().blocks_used == 0


def test_a_snapshot_that_is_being_brought_in_is_not_evicted_from_the_host_and_is_said_to_come() -> None:
    cache = TieredPrefixCache(6, 3, 3, 1)
    plant(cache, "abc", (3,))
    for symbols in ("uvwxyz", "rst"):
        plant(cache, symbols, (len(symbols),))
    hit = look(cache, "abc")
    if hit.host is None:
        pytest.fail("abc should have been moved to the host and kept there")
    assert not cache.is_coming(hit)
    cache.pin(hit)
    blocks, slot = cache.bring(hit)
    assert cache.is_coming(look(cache, "abc"))
    cache.moves()
    cache.moved()
    assert not cache.is_coming(look(cache, "abc"))
    assert cache.arrived(slot) == 192
    cache.check(blocks, [slot])


def test_what_is_withdrawn_is_withdrawn_from_both_tiers() -> None:
    cache = TieredPrefixCache(4, 2, 10, 5)
    plant(cache, "abc", (3,))
    plant(cache, "xyz", (3,))
    reload(cache, look(cache, "abc"))
    cache.withdraw(HERE, tokens("abc"))
    assert look(cache, "abc").matched == 0 and look(cache, "xyz").tokens == 192
    cache.check([], [])


def test_a_junction_is_seen_in_either_tier() -> None:
    cache = TieredPrefixCache(4, 2, 10, 5)
    plant(cache, "abcd", (1, 4))
    plant(cache, "xyz", (3,))
    hit = look(cache, "abce")
    assert (hit.tokens, hit.matched, hit.junction) == (64, 192, 192)


def test_without_evictions_no_plan_has_copies() -> None:
    cache = TieredPrefixCache(10, 10, 10, 5)
    assert plant(cache, "abc", (3,)) == plant(cache, "abx", (3,)) == NO_COPIES
