"""A prefix cache that restores where a historical layout says."""

from collections.abc import Iterable

from isotherm.cache import DeclineReason, Hit, Namespace, Place, PrefixCache, Published
from isotherm.cache.tree import Node
from isotherm.core.constants import BLOCK, NULL_BLOCK
from isotherm.core.plan import Replay, StateWrite
from isotherm.native.layout import NativeLayout


class NativePrefixCache(PrefixCache):
    """Evicts as its base does. What a lookup makes of what it finds is the layout's. And whoever publishes what the tree has
    already goes on with their own copy, since the tree's may have other bits: only a hit may change an answer here.
    """

    def __init__(self, layout: NativeLayout, blocks: int, slots: int, *, enabled: bool = True):
        super().__init__(blocks, slots, enabled=enabled)
        self._layout = layout

    def lookup(self, namespace: Namespace, tokens: tuple[int, ...], limit: int) -> Hit:
        """tokens: all known ones but the last. The hit's replay is from the snapshot to the match, also when it is empty."""
        if not self.enabled:
            return Hit.declined(namespace, "disabled")
        if not limit:
            return Hit.declined(namespace, "too_short")
        path = self._content.tree.path(namespace, tokens, limit)
        partial, more = self._part_of_a_block(path, tokens)
        matched = len(path) * BLOCK + more
        node = self._snapshot(path, matched, len(tokens) + 1)
        if node is None:
            return Hit.declined(namespace, self._why_not(matched), matched)
        reuses = self._layout.native.kv == "reuse"
        return Hit(
            place=Place(namespace, node.end, node),
            blocks=tuple(found.block for found in (path if reuses else path[: node.end // BLOCK])),
            slot=node.slot,
            matched=matched,
            replay=Replay(node.end, matched, rewrites=not reuses),
            partial=partial,
        )

    def publish(
        self, place: Place, tokens: tuple[int, ...], blocks: tuple[int, ...], snapshots: Iterable[StateWrite] = ()
    ) -> Published:
        """See PrefixCache.publish. The tree's copies are held as well, as long as at least half of all blocks can be had."""
        slots = {write.position: write.slot for write in snapshots}
        if not self.enabled or not (blocks or slots):
            return Published(place, blocks, tuple(slots.values()))
        node, kept, shadowed = place.node or self._content.tree.root(place.namespace), list(blocks), []
        for i, block in enumerate(blocks):
            self._publish_own_snapshot(node, slots)
            key = tokens[i * BLOCK : (i + 1) * BLOCK]
            found = self._content.tree.child(node, key)
            if found is not None and found.block != block and self.blocks.available * 2 >= self.blocks.capacity:
                self.blocks.retain(found.block)
                shadowed.append(found.block)
                node = found
            else:
                node = self._publish_block(node, key, block)
                kept[i] = node.block
        self._publish_own_snapshot(node, slots)
        end = Place(place.namespace, node.end, node)
        return Published(end, tuple(kept), tuple(slots.values()), tuple(shadowed))

    def _publish_own_snapshot(self, node: Node, slots: dict[int, int]) -> None:
        if node.has_snapshot and node.end in slots:
            self._content.order.touch(node)
        else:
            self._publish_snapshot(node, slots)

    def _snapshot(self, path: list[Node], matched: int, tokens: int) -> Node | None:
        """The deepest node from which the layout may go on."""
        may = self._layout.may_restore
        return next((n for n in reversed(path) if n.has_snapshot and may(n.end, matched, tokens)), None)

    def _why_not(self, matched: int) -> DeclineReason:
        if not matched:
            return "no_match"
        return "not_restored" if self._layout.native.restore == "never" else "no_snapshot"

    def _part_of_a_block(self, path: list[Node], tokens: tuple[int, ...]) -> tuple[int, int]:
        """The block below the path that begins with the most of the next tokens, and how many; NULL_BLOCK, 0 for none."""
        if self._layout.native.match_unit == BLOCK or not path:
            return NULL_BLOCK, 0
        rest = tokens[len(path) * BLOCK : (len(path) + 1) * BLOCK]
        best = max(path[-1].offspring(), key=lambda node: _shared(node.tokens, rest), default=None)
        shared = 0 if best is None else _shared(best.tokens, rest)
        return (best.block, shared) if best is not None and shared else (NULL_BLOCK, 0)


def _shared(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    """How many tokens two sequences begin with in common."""
    pairs = zip(left, right, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
