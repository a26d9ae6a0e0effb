"""The prefix cache: what of a prompt need not be computed again. Policy: docs/cache-policy.md."""

from collections.abc import Iterable, Iterator
from functools import partial

from isotherm.cache.content import Content
from isotherm.cache.hit import Hit, Place, Published
from isotherm.cache.invariants import check_content
from isotherm.cache.observer import Kind, Observer
from isotherm.cache.pool import IdPool
from isotherm.cache.tree import BlockHash, Namespace, Node, RadixTree
from isotherm.core.constants import BLOCK, ZERO_SLOT
from isotherm.core.plan import NO_COPIES, HostCopies, StateWrite
from isotherm.core.stats import HostStats


class PrefixCache:
    """Owner of all block ids and state slots, 1..blocks and 1..slots, whether caching is enabled or not.

    Who refers to an id: the tree (one reference a node, one a snapshot), and holders (live sequences, counted one a
    reference). A holder gives back each reference exactly once: `release_blocks`, `release_slot`. What is held is never evicted.

        allocate ──► held by its writer ──publish──► held, and kept by the tree ──release──► kept only (idle) ──evict──► free
                                        └─────────────────── release, unpublished ──────────────────────────────────────►
    """

    def __init__(
        self,
        blocks: int,
        slots: int,
        *,
        enabled: bool = True,
        observer: Observer | None = None,
        block_hash: BlockHash = hash,
    ):
        self.enabled = enabled
        self._observer = observer
        self.blocks = IdPool(blocks, partial(observer.freed, "block") if observer else None)
        self.slots = IdPool(slots, partial(observer.freed, "slot") if observer else None)
        self._content = Content(RadixTree(block_hash), self.blocks, self.slots)

    @property
    def evicted_blocks(self) -> int:
        """Blocks freed by eviction, ever."""
        return self._content.evicted_blocks

    @property
    def evicted_snapshots(self) -> int:
        """Snapshots evicted, ever."""
        return self._content.evicted_snapshots

    def lookup(self, namespace: Namespace, tokens: tuple[int, ...], limit: int) -> Hit:
        """The deepest block of tokens[:limit] that carries a snapshot; limit is a multiple of 64. Writes and pins nothing."""
        if not self.enabled:
            return Hit.declined(namespace, "disabled")
        if not limit:
            return Hit.declined(namespace, "too_short")
        path = self._content.tree.path(namespace, tokens, limit)
        matched = len(path) * BLOCK
        depth = next((i for i in range(len(path), 0, -1) if path[i - 1].has_snapshot), 0)
        if not depth:
            return Hit.declined(namespace, "no_snapshot" if matched else "no_match", matched)
        node = path[depth - 1]
        blocks = tuple(found.block for found in path[:depth])
        return Hit(Place(namespace, node.end, node), blocks, node.slot, matched)

    def idle_blocks(self, hit: Hit) -> int:
        """How many of the hit's blocks nobody holds yet: pinning takes these away from what is available."""
        return sum(1 for block in hit.pinned if not self.blocks.holders(block))

    def pin(self, hit: Hit) -> None:
        """Hold the hit's blocks and slot. Raises ValueError when any of it was evicted since the lookup."""
        if not hit.is_current:
            raise ValueError("the hit was evicted before it was pinned")
        for block in hit.pinned:
            self.blocks.retain(block)
        if hit.slot != ZERO_SLOT:
            self.slots.retain(hit.slot)

    def touch(self, hit: Hit) -> None:
        """The hit is being used: its snapshot counts as new to eviction."""
        if hit.place.node is not None:
            self._content.order.touch(hit.place.node)

    def bring(self, hit: Hit) -> tuple[tuple[int, ...], int]:
        """Where a pinned hit's blocks and snapshot are, or will be when the next pass begins; they are held by the caller."""
        return hit.blocks, hit.slot

    def is_coming(self, hit: Hit) -> bool:
        """Whether the next pass brings the hit's snapshot already, for another sequence: after it, the hit is nearer."""
        return False

    def arrived(self, slot: int) -> int:
        """The boundary of the state that the last pass brought into `slot`, told once; 0 for none."""
        return 0

    def moves(self) -> HostCopies:
        """The copies that the next pass begins with. They are in flight until `moved`."""
        return NO_COPIES

    def moved(self) -> None:
        """The copies in flight have completed."""

    def host_stats(self) -> HostStats:
        """Of the host tier; zeros where there is none."""
        return HostStats()

    def allocate_blocks(self, count: int) -> tuple[int, ...] | None:
        """`count` blocks, evicting if need be; None, and nothing changed, when too many are held."""
        if not self._content.free_blocks(count):
            return None
        return tuple(self.blocks.allocate() for _ in range(count))

    def allocate_slot(self) -> int | None:
        """A slot, evicting if need be; None when every slot is held."""
        return self.slots.allocate() if self._content.free_slot() else None

    def release_blocks(self, blocks: tuple[int, ...]) -> None:
        """Give back a sequence's blocks, in order of position."""
        for block in reversed(blocks):
            self.blocks.release(block)
            self._content.released(block)

    def release_slot(self, slot: int) -> None:
        """Give back a slot. The zero slot belongs to nobody and is ignored."""
        if slot != ZERO_SLOT:
            self.slots.release(slot)

    def publish(
        self, place: Place, tokens: tuple[int, ...], blocks: tuple[int, ...], snapshots: Iterable[StateWrite] = ()
    ) -> Published:
        """Make written blocks and snapshots visible. Everything named is held by the caller, before and after.

        tokens: 64 a block, from `place` on. blocks: where they are. snapshots: states at boundaries from `place` to the last
        block's end. The first copy of a thing is kept: where the tree has it already, the caller comes to hold the tree's
        copy and its own is released, unless it `_keeps_own`. Does nothing when caching is off.
        """
        slots = {write.position: write.slot for write in snapshots}
        _check_publication(place, tokens, blocks, slots)
        if not self.enabled or not (blocks or slots):
            return Published(place, blocks, tuple(slots.values()))
        node = place.node or self._content.tree.root(place.namespace)
        kept, shadowed = [], []
        for i, block in enumerate(blocks):
            self._publish_snapshot(node, slots)
            node, mine = self._publish_block(node, tokens[i * BLOCK : (i + 1) * BLOCK], block)
            kept.append(mine)
            if mine != node.block:
                shadowed.append(node.block)
        self._publish_snapshot(node, slots)
        end = Place(place.namespace, node.end, node)
        return Published(end, tuple(kept), tuple(slots.values()), tuple(shadowed))

    def withdraw(self, namespace: Namespace, tokens: tuple[int, ...]) -> None:
        """Forget what is kept of these tokens, as far as nobody holds it: it is suspect."""
        self._content.withdraw(self._content.tree.path(namespace, tokens, len(tokens) // BLOCK * BLOCK))

    def published(self) -> Iterator[tuple[tuple[int, ...], int, int]]:
        """(tokens from position 0 to a block's end, block, slot or ZERO_SLOT) of everything kept, parents first; for audits."""
        prefixes: dict[Node, tuple[int, ...]] = {}
        for node in self._content.tree.nodes():
            before = prefixes.get(node.parent, ()) if node.parent is not None else ()
            prefixes[node] = before + node.tokens
            yield prefixes[node], node.block, node.slot

    def check(self, held_blocks: Iterable[int] | None = None, held_slots: Iterable[int] | None = None) -> None:
        """Assert every invariant; for tests, after each step. The arguments list every reference that holders have."""
        check_content(self._content, held_blocks, held_slots)

    def _keeps_own(self, kind: Kind) -> bool:
        """Whether a publisher goes on with its own copy of what the tree has already: never, since both have the same bits."""
        return False

    def _publish_block(self, parent: Node, tokens: tuple[int, ...], block: int) -> tuple[Node, int]:
        """The node of these tokens, whose block the publisher holds afterwards, and the block that it goes on with."""
        node = self._content.tree.child(parent, tokens)
        if node is None:
            return self._content.add_block(parent, tokens, block), block
        if node.block == block:
            return node, block
        goes_on_with_its_own = self._keeps_own("block")
        self.blocks.retain(node.block)
        if goes_on_with_its_own:
            return node, block
        if self._observer is not None:
            self._observer.duplicate("block", node.block, block)
        self.blocks.release(block)
        return node, node.block

    def _publish_snapshot(self, node: Node, slots: dict[int, int]) -> None:
        slot = slots.get(node.end)
        if slot is None:
            return
        if not node.has_snapshot:
            self._content.add_snapshot(node, slot)
            return
        if node.slot != slot and not self._keeps_own("slot"):
            if self._observer is not None:
                self._observer.duplicate("slot", node.slot, slot)
            self.slots.retain(node.slot)
            self.slots.release(slot)
            slots[node.end] = node.slot
        self._content.order.touch(node)


def _check_publication(place: Place, tokens: tuple[int, ...], blocks: tuple[int, ...], slots: dict[int, int]) -> None:
    if len(tokens) != BLOCK * len(blocks):
        raise ValueError(f"{len(tokens)} tokens do not fill {len(blocks)} blocks")
    low, high = max(place.tokens, BLOCK), place.tokens + len(tokens)
    if not all(low <= position <= high and position % BLOCK == 0 for position in slots):
        raise ValueError(f"snapshots at {sorted(slots)} are not boundaries from {low} to {high}")
    if ZERO_SLOT in slots.values():
        raise ValueError("the zero slot is not a snapshot")
