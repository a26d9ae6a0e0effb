"""A prefix cache with a second tier in the host's memory, for what is evicted from the first."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import cast

from isotherm.cache.hit import Hit, Place
from isotherm.cache.observer import Kind, Observer
from isotherm.cache.prefix import PrefixCache
from isotherm.cache.tree import BlockHash, Namespace, Node
from isotherm.core.constants import BLOCK, ZERO_SLOT
from isotherm.core.plan import HostCopies, StateWrite
from isotherm.core.stats import HostStats


@dataclass(frozen=True, slots=True)
class _Leaving:
    """A snapshot and the blocks of its path on their way out, with the host's ids for all of them, held until they are there."""

    namespace: Namespace
    tokens: tuple[int, ...]
    blocks: tuple[int, ...]
    slot: int


class TieredPrefixCache(PrefixCache):
    """The host tier is a prefix cache of its own, with the same tree, pools and eviction; copies are its writers and readers.

    A snapshot that is evicted is copied out with the blocks of its path that the host does not have yet. A lookup whose match
    goes on in the host takes fresh blocks and a slot here, into which the next pass first copies; they are published like what a
    pass has written. Ids of the host are held from the plan that names them to that plan's completion, and nothing is found there
    before. An id of the device that is evicted may be given away in the plan that copies it out, since those copies come first.
    """

    def __init__(
        self,
        blocks: int,
        slots: int,
        host_blocks: int,
        host_slots: int,
        *,
        enabled: bool = True,
        observer: Observer | None = None,
        block_hash: BlockHash = hash,
    ):
        super().__init__(blocks, slots, enabled=enabled, observer=observer, block_hash=block_hash)
        listener = None if observer is None else _HostObserver(observer)
        self.host = PrefixCache(host_blocks, host_slots, enabled=enabled, observer=listener, block_hash=block_hash)
        self._content.on_evict = self._offload
        self._planned = _Copies()
        self._in_flight = _Copies()
        self._brought: dict[int, int] = {}
        self._stats = HostStats()

    def lookup(self, namespace: Namespace, tokens: tuple[int, ...], limit: int) -> Hit:
        """The deepest snapshot in either tier; at the same depth, the one that is here."""
        here = super().lookup(namespace, tokens, limit)
        if here.reason in ("disabled", "too_short"):
            return here
        there = self.host.lookup(namespace, tokens, limit)
        matched = max(here.matched, there.matched)
        if there.tokens <= here.tokens:
            return replace(here, matched=matched, reason="no_snapshot" if here.reason and matched else here.reason)
        path = self._content.tree.path(namespace, tokens, there.tokens)
        place = Place(namespace, len(path) * BLOCK, path[-1] if path else None)
        return Hit(place, tuple(node.block for node in path), matched=matched, host=there)

    def pin(self, hit: Hit) -> None:
        """Hold what of the hit is here, and what is in the host until it was brought."""
        super().pin(hit)
        if hit.host is not None:
            self.host.pin(hit.host)

    def touch(self, hit: Hit) -> None:
        """The hit is being used, where its snapshot is."""
        if hit.host is None:
            super().touch(hit)
        else:
            self.host.touch(hit.host)

    def bring(self, hit: Hit) -> tuple[tuple[int, ...], int]:
        """See PrefixCache. The caller has made sure that there are blocks and a slot to be had."""
        if hit.host is None:
            return super().bring(hit)
        missing = hit.host.blocks[len(hit.blocks) :]
        blocks, slot = self.allocate_blocks(len(missing)), self.allocate_slot()
        assert blocks is not None and slot is not None, "a hit is brought in and there is no room for it"
        self._planned.blocks_in += zip(missing, blocks, strict=True)
        self._planned.slots_in.append((hit.host.slot, slot))
        self._planned.hits.append(hit.host)
        self._brought[slot] = hit.tokens
        return hit.blocks + blocks, slot

    def is_coming(self, hit: Hit) -> bool:
        """See PrefixCache."""
        return hit.host is not None and self.host.slots.holders(hit.host.slot) > 0

    def arrived(self, slot: int) -> int:
        """See PrefixCache."""
        return self._brought.pop(slot, 0)

    def moves(self) -> HostCopies:
        """See PrefixCache."""
        assert self._in_flight.is_empty, "the copies before are still in flight"
        self._in_flight, self._planned = self._planned, _Copies()
        return self._in_flight.as_planned()

    def moved(self) -> None:
        """What left is published in the host; what came is no longer held there."""
        copies, self._in_flight = self._in_flight, _Copies()
        for item in copies.leaving:
            write = StateWrite(len(item.tokens), item.slot)
            done = self.host.publish(Place(item.namespace), item.tokens, item.blocks, [write])
            self._give_back(done.blocks, done.slots[0])
        for hit in copies.hits:
            self._give_back(hit.blocks, hit.slot)
        stats = self._stats
        self._stats = replace(
            stats,
            offloaded_blocks=stats.offloaded_blocks + len(copies.blocks_out),
            offloaded_snapshots=stats.offloaded_snapshots + len(copies.slots_out),
            reloaded_blocks=stats.reloaded_blocks + len(copies.blocks_in),
            reloaded_snapshots=stats.reloaded_snapshots + len(copies.slots_in),
        )

    def withdraw(self, namespace: Namespace, tokens: tuple[int, ...]) -> None:
        """Forget these tokens in both tiers."""
        super().withdraw(namespace, tokens)
        self.host.withdraw(namespace, tokens)

    def host_stats(self) -> HostStats:
        """See PrefixCache."""
        return replace(self._stats, blocks_used=self.host.blocks.used, slots_used=self.host.slots.used)

    def check(self, held_blocks: Iterable[int] | None = None, held_slots: Iterable[int] | None = None) -> None:
        """Both tiers. The host's ids are held by copies alone, planned or in flight."""
        super().check(held_blocks, held_slots)
        copies = (self._planned, self._in_flight)
        holders = [(holder.blocks, holder.slot) for one in copies for holder in one.leaving]
        holders += [(hit.blocks, hit.slot) for one in copies for hit in one.hits]
        self.host.check([block for blocks, _ in holders for block in blocks], [slot for _, slot in holders])
        for one in copies:
            for pairs in (one.blocks_out, one.slots_out, one.blocks_in, one.slots_in):
                targets = [target for _, target in pairs]
                assert len(set(targets)) == len(targets), "two copies have one target"
        assert all(self.slots.holders(slot) for slot in self._brought), "nobody holds a state that was brought"

    def _offload(self, node: Node) -> None:
        """Plan copies of the snapshot at `node` and of what the host lacks of its path, if the host has room."""
        path, host, coming = node.path(), self.host, self._planned.coming
        tokens = tuple(chain.from_iterable(one.tokens for one in path))
        found = host._content.tree.path(node.namespace, tokens, len(tokens))
        if len(found) == len(path) and found[-1].has_snapshot:
            host._content.order.touch(found[-1])
            return
        held = [*(one.block for one in found), *(coming[one] for one in path[len(found) :] if one in coming)]
        for block in held:
            host.blocks.retain(block)
        fresh = path[len(held) :]
        blocks = host.allocate_blocks(len(fresh))
        slot = None if blocks is None else host.allocate_slot()
        if blocks is None or slot is None:
            self._stats = replace(self._stats, lost_snapshots=self._stats.lost_snapshots + 1)
            self._give_back((*held, *(blocks or ())), ZERO_SLOT)
            return
        coming.update(zip(fresh, blocks, strict=True))
        self._planned.blocks_out += [(one.block, block) for one, block in zip(fresh, blocks, strict=True)]
        self._planned.slots_out.append((node.slot, slot))
        self._planned.leaving.append(_Leaving(node.namespace, tokens, (*held, *blocks), slot))

    def _give_back(self, blocks: tuple[int, ...], slot: int) -> None:
        self.host.release_blocks(blocks)
        self.host.release_slot(slot)


class _Copies:
    """The copies of one plan, and what they hold. coming: the host's blocks for nodes that are being copied out."""

    def __init__(self) -> None:
        self.blocks_out: list[tuple[int, int]] = []
        self.slots_out: list[tuple[int, int]] = []
        self.blocks_in: list[tuple[int, int]] = []
        self.slots_in: list[tuple[int, int]] = []
        self.leaving: list[_Leaving] = []
        self.hits: list[Hit] = []
        self.coming: dict[Node, int] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing is held."""
        return not (self.leaving or self.hits)

    def as_planned(self) -> HostCopies:
        """The value that a plan carries."""
        return HostCopies(tuple(self.blocks_out), tuple(self.slots_out), tuple(self.blocks_in), tuple(self.slots_in))


class _HostObserver:
    """Tells an observer that it is the host's ids that are meant."""

    def __init__(self, observer: Observer):
        self._observer = observer

    def duplicate(self, kind: Kind, kept: int, duplicate: int) -> None:
        """See Observer."""
        self._observer.duplicate(_of_host(kind), kept, duplicate)

    def freed(self, kind: Kind, identity: int) -> None:
        """See Observer."""
        self._observer.freed(_of_host(kind), identity)


def _of_host(kind: Kind) -> Kind:
    return cast(Kind, f"host {kind}")
