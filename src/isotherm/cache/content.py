"""The tree's content: which ids its nodes keep, and how they are given up again."""

from collections.abc import Callable

from isotherm.cache.eviction import EvictionOrder
from isotherm.cache.pool import IdPool
from isotherm.cache.tree import Node, RadixTree
from isotherm.core.constants import ZERO_SLOT


class Content:
    """Keeps one block a node and one slot a snapshot, and drops both when they are worth least.

    It holds to one rule: a node that nobody holds and that has no snapshot at or below it does not stay. So every leaf is
    held or carries a snapshot, and evicting snapshots is enough to free blocks. on_evict: told of a node whose snapshot is about
    to be evicted, while all blocks of its path are still there.
    """

    def __init__(self, tree: RadixTree, blocks: IdPool, slots: IdPool):
        self.tree = tree
        self.blocks = blocks
        self.slots = slots
        self.order = EvictionOrder()
        self.evicted_blocks = 0
        self.evicted_snapshots = 0
        self.on_evict: Callable[[Node], None] | None = None
        self._nodes: dict[int, Node] = {}

    def add_block(self, parent: Node, tokens: tuple[int, ...], block: int) -> Node:
        """A new node for a block that its writer still holds."""
        node = self.tree.add(parent, tokens, block)
        self.blocks.keep(block)
        self._nodes[block] = node
        self._reprice(parent)
        return node

    def add_snapshot(self, node: Node, slot: int) -> None:
        """Give a node that has none a snapshot, in a slot that its writer still holds."""
        self.slots.keep(slot)
        node.slot = slot
        self.order.add(node)

    def replace_snapshot(self, node: Node, slot: int) -> None:
        """Another copy of the snapshot that the node has, in a slot that its writer still holds, takes its place."""
        self._drop_snapshot(node)
        self.add_snapshot(node, slot)

    def free_slot(self) -> bool:
        """Evict until a slot is free; False when every slot is held."""
        if not self.slots.free:
            node = self.order.lowest(self._slot_is_idle)
            if node is not None:
                self._evict(node)
        return bool(self.slots.free)

    def free_blocks(self, count: int) -> bool:
        """Evict until `count` blocks are free; False, with nothing evicted, when too many are held."""
        if count > self.blocks.available:
            return False
        while self.blocks.free < count:
            node = self.order.lowest(self._is_idle_leaf)
            assert node is not None, "idle blocks without a snapshot below them"
            self._evict(node)
        return True

    def released(self, block: int) -> None:
        """A holder has released `block`: its node goes if that left it useless."""
        node = self._nodes.get(block)
        if node is not None:
            self._prune(node)

    def withdraw(self, path: list[Node]) -> None:
        """Take the nodes of a path out, deepest first, up to one that is held or shared."""
        for node in reversed(path):
            if node.children or self.blocks.holders(node.block):
                break
            if node.has_snapshot:
                self._drop_snapshot(node)
            self._drop_block(node)

    def nodes(self) -> dict[int, Node]:
        """The node of every kept block."""
        return self._nodes

    def _slot_is_idle(self, node: Node) -> bool:
        return not self.slots.holders(node.slot)

    def _is_idle_leaf(self, node: Node) -> bool:
        return not node.children and not self.blocks.holders(node.block)

    def _evict(self, node: Node) -> None:
        if self.on_evict is not None:
            self.on_evict(node)
        self._drop_snapshot(node)
        self.evicted_snapshots += 1
        self.evicted_blocks += self._prune(node)

    def _prune(self, node: Node) -> int:
        """Drop `node`, and those above it, while they are useless; how many."""
        dropped = 0
        while node.parent is not None and not node.has_snapshot and self._is_idle_leaf(node):
            parent = node.parent
            self._drop_block(node)
            dropped += 1
            node = parent
        return dropped

    def _drop_snapshot(self, node: Node) -> None:
        slot, node.slot = node.slot, ZERO_SLOT
        self.order.remove(node)
        self.slots.drop(slot)

    def _drop_block(self, node: Node) -> None:
        block, parent = node.block, node.parent
        self.tree.remove(node)
        del self._nodes[block]
        self.blocks.drop(block)
        self._reprice(parent)

    def _reprice(self, node: Node | None) -> None:
        """A node has more or fewer followers than before."""
        if node is not None and node.has_snapshot:
            self.order.reprice(node)
