"""A prefix cache that restores where a historical layout says."""

from collections.abc import Iterator
from typing import Protocol

from isotherm.cache import DeclineReason, Hit, Namespace, Observer, Place, PrefixCache
from isotherm.cache.observer import Kind
from isotherm.cache.tree import Node
from isotherm.core.constants import BLOCK, NULL_BLOCK
from isotherm.core.plan import Replay
from isotherm.native.layout import NativeLayout


class Anchor(Observer, Protocol):
    """Who knows of which snapshots the drafter's rows are kept."""

    def has(self, slot: int) -> bool:
        """Whether those of the state in `slot` are."""
        ...


class NativePrefixCache(PrefixCache):
    """Evicts as its base does. What a lookup makes of what it finds is the layout's. And whoever publishes what the tree has
    already goes on with their own copy, since the tree's may have other bits: only a hit may change an answer here.

    anchor: where it says that a snapshot's rows are not kept, the snapshot is not restored, and gives way to one with rows.
    """

    def __init__(
        self, layout: NativeLayout, blocks: int, slots: int, *, enabled: bool = True, anchor: Anchor | None = None
    ):
        super().__init__(blocks, slots, enabled=enabled, observer=anchor)
        self._layout = layout
        self._anchor = anchor

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
            return Hit.declined(namespace, self._why_not(path, matched, len(tokens) + 1), matched)
        reuses = self._layout.native.kv == "reuse"
        return Hit(
            place=Place(namespace, node.end, node),
            blocks=tuple(found.block for found in (path if reuses else path[: node.end // BLOCK])),
            slot=node.slot,
            matched=matched,
            replay=Replay(node.end, matched, rewrites=not reuses),
            partial=partial,
        )

    def _keeps_own(self, kind: Kind) -> bool:
        """The tree's copies of blocks are held as well, as long as at least half of all blocks can be had."""
        return kind == "slot" or self.blocks.available * 2 >= self.blocks.capacity

    def _publish_snapshot(self, node: Node, slots: dict[int, int]) -> None:
        slot = slots.get(node.end)
        if slot is not None and node.has_snapshot and self._anchored(slot) and not self._anchored(node.slot):
            self._content.replace_snapshot(node, slot)
        super()._publish_snapshot(node, slots)

    def _snapshot(self, path: list[Node], matched: int, tokens: int) -> Node | None:
        """The deepest node from which the layout may go on."""
        return next((node for node in self._restorable(path, matched, tokens) if self._anchored(node.slot)), None)

    def _restorable(self, path: list[Node], matched: int, tokens: int) -> Iterator[Node]:
        may = self._layout.may_restore
        return (node for node in reversed(path) if node.has_snapshot and may(node.end, matched, tokens))

    def _anchored(self, slot: int) -> bool:
        return self._anchor is None or self._anchor.has(slot)

    def _why_not(self, path: list[Node], matched: int, tokens: int) -> DeclineReason:
        if not matched:
            return "no_match"
        if any(self._restorable(path, matched, tokens)):
            return "no_anchor"
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
