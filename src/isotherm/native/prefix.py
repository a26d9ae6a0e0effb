"""A prefix cache that restores where a historical layout says."""

from isotherm.cache import DeclineReason, Hit, Namespace, Place, PrefixCache
from isotherm.cache.tree import Node
from isotherm.core.constants import BLOCK, NULL_BLOCK
from isotherm.core.plan import Replay
from isotherm.native.layout import NativeLayout


class NativePrefixCache(PrefixCache):
    """Publishes and evicts as its base does; only what a lookup makes of what it finds is the layout's."""

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
