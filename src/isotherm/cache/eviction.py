"""Which snapshot goes next: GreedyDual, what a snapshot saves against how long ago it was used."""

import heapq
from collections.abc import Callable, Iterator

from isotherm.cache.tree import Node

Entry = tuple[int, int, int, Node]

PASSED_THROUGH = 4
"""How many times less a snapshot counts once everything that was ever seen to follow it went on the same way."""


class EvictionOrder:
    """Snapshots by priority: the clock when last used plus what the snapshot is worth.

    The clock is logical. It rises to the priority of each snapshot that is evicted, so that one which is not used falls
    behind, however much it saves. Ties go to the one used longest ago. Entries in the heap are never changed: a newer one
    makes the older stale (`Node.entry` names the valid one).
    """

    def __init__(self) -> None:
        self.clock = 0
        self._heap: list[Entry] = []
        self._entries = 0
        self._uses = 0
        self._size = 0

    def add(self, node: Node) -> None:
        """`node` has just got its snapshot."""
        self._size += 1
        self.touch(node)
        self._reprice_below(node)

    def touch(self, node: Node) -> None:
        """The snapshot was used."""
        self._uses += 1
        node.base, node.used = self.clock, self._uses
        self._push(node)

    def remove(self, node: Node) -> None:
        """`node` has just lost its snapshot."""
        self._size -= 1
        node.entry = 0
        self._reprice_below(node)

    def lowest(self, evictable: Callable[[Node], bool]) -> Node | None:
        """The evictable snapshot of least priority, to which the clock rises; None when there is none."""
        passed_over: list[Entry] = []
        found = None
        while self._heap and found is None:
            entry = heapq.heappop(self._heap)
            priority, _, serial, node = entry
            if node.entry != serial:
                continue
            passed_over.append(entry)
            if evictable(node):
                found = node
                self.clock = max(self.clock, priority)
        for entry in passed_over:
            heapq.heappush(self._heap, entry)
        return found

    def reprice(self, node: Node) -> None:
        """What follows the snapshot has changed."""
        self._push(node)

    def _push(self, node: Node) -> None:
        self._entries += 1
        node.entry = self._entries
        heapq.heappush(self._heap, (node.base + worth(node), node.used, node.entry, node))
        if len(self._heap) > 2 * self._size + 64:
            self._heap = [entry for entry in self._heap if entry[3].entry == entry[2]]
            heapq.heapify(self._heap)

    def _reprice_below(self, node: Node) -> None:
        for below in nearest_below(node):
            self._push(below)


def worth(node: Node) -> int:
    """The tokens it saves, less where exactly one block follows.

    A prompt uses the deepest snapshot on its way. One with nothing below is where a conversation goes on, one with several
    blocks below is where prompts part; one with a single block below serves only a prompt that is the first to part there.
    """
    saved = tokens_saved(node)
    return saved // PASSED_THROUGH if node.followers == 1 else saved


def tokens_saved(node: Node) -> int:
    """Tokens between the snapshot and the nearest one above it."""
    above = node.parent
    while above is not None and above.end and not above.has_snapshot:
        above = above.parent
    return node.end - (above.end if above is not None else 0)


def nearest_below(node: Node) -> Iterator[Node]:
    """The snapshots below `node` with no other between."""
    stack = list(node.offspring())
    while stack:
        below = stack.pop()
        if below.has_snapshot:
            yield below
        else:
            stack.extend(below.offspring())
