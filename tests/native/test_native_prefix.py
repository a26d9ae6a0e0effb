"""The native prefix cache beside an anchor: a snapshot counts only where the drafter's rows are kept."""

from isotherm.cache import Namespace
from isotherm.cache.hit import Place
from isotherm.cache.observer import Kind
from isotherm.core.constants import BLOCK
from isotherm.core.numerics import NativeConfig
from isotherm.core.plan import StateWrite
from isotherm.native.layout import NativeLayout
from isotherm.native.prefix import NativePrefixCache

SPACE = Namespace()
TOKENS = tuple(range(2 * BLOCK))


class Rows:
    """Slots whose rows are kept."""

    def __init__(self) -> None:
        self.kept: set[int] = set()
        self.freed_slots: list[int] = []

    def has(self, slot: int) -> bool:
        return slot in self.kept

    def freed(self, kind: Kind, identity: int) -> None:
        if kind == "slot":
            self.freed_slots.append(identity)

    def duplicate(self, kind: Kind, kept: int, duplicate: int) -> None:
        raise AssertionError("a publisher of native numerics goes on with its own")


def publish(cache: NativePrefixCache) -> dict[int, int]:
    """Two blocks and their snapshots, published and given back; the slots by position."""
    blocks = cache.allocate_blocks(2)
    assert blocks is not None
    slots = {position: cache.allocate_slot() or 0 for position in (BLOCK, 2 * BLOCK)}
    done = cache.publish(Place(SPACE), TOKENS, blocks, [StateWrite(*item) for item in slots.items()])
    cache.release_blocks(done.blocks)
    cache.release_blocks(done.shadowed)
    for slot in done.slots:
        cache.release_slot(slot)
    cache.check({}, {})
    return slots


def made() -> tuple[NativePrefixCache, Rows]:
    rows = Rows()
    return NativePrefixCache(NativeLayout(2048, NativeConfig()), 20, 20, anchor=rows), rows


def test_the_deepest_snapshot_with_rows_is_restored() -> None:
    cache, rows = made()
    slots = publish(cache)
    rows.kept = {slots[BLOCK]}
    assert cache.lookup(SPACE, TOKENS, 2 * BLOCK).tokens == BLOCK
    rows.kept = set(slots.values())
    assert cache.lookup(SPACE, TOKENS, 2 * BLOCK).tokens == 2 * BLOCK


def test_without_rows_nothing_is_and_the_reason_is_told() -> None:
    cache, _ = made()
    publish(cache)
    hit = cache.lookup(SPACE, TOKENS, 2 * BLOCK)
    assert (hit.tokens, hit.matched, hit.reason) == (0, 2 * BLOCK, "no_anchor")


def test_a_snapshot_without_rows_gives_way_to_one_with_rows_and_not_the_other_way_round() -> None:
    """Kept as it is, it would stand in the way of every later one, and nothing would ever be restored."""
    cache, rows = made()
    first = publish(cache)
    rows.kept = set(range(100)) - set(first.values())
    second = publish(cache)
    assert sorted(rows.freed_slots) == sorted(first.values())
    assert cache.lookup(SPACE, TOKENS, 2 * BLOCK).slot == second[2 * BLOCK]
    rows.kept = set(second.values())
    publish(cache)
    assert cache.lookup(SPACE, TOKENS, 2 * BLOCK).slot == second[2 * BLOCK]
