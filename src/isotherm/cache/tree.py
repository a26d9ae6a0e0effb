"""The radix tree: what tokens lead to which block and snapshot. It knows nothing of references or eviction."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from isotherm.core.constants import BLOCK, NULL_BLOCK, ZERO_SLOT

BlockHash = Callable[[tuple[int, ...]], int]


class Namespace(NamedTuple):
    """What must be equal, beside the tokens, for a block to be shared. Adapter "" is the model alone."""

    adapter: str = ""
    salt: str = ""


class Node:
    """One block of 64 tokens below its parent's. A root has no parent and no tokens.

    end: position after its last token. block: its id, NULL_BLOCK once the node has left the tree (and in a root).
    slot: its snapshot's slot, ZERO_SLOT when it has none. children: by hash; those whose hashes collide share a list.
    base, used, entry: the eviction order's own notes on the snapshot.
    """

    __slots__ = ("base", "block", "children", "end", "entry", "namespace", "parent", "slot", "tokens", "used")

    def __init__(self, namespace: Namespace, parent: "Node | None", tokens: tuple[int, ...], block: int):
        self.namespace = namespace
        self.parent = parent
        self.tokens = tokens
        self.block = block
        self.end: int = 0 if parent is None else parent.end + BLOCK
        self.slot = ZERO_SLOT
        self.children: dict[int, list[Node]] = {}
        self.base = 0
        self.used = 0
        self.entry = 0

    @property
    def has_snapshot(self) -> bool:
        """Whether the state at `end` is kept."""
        return self.slot != ZERO_SLOT

    @property
    def followers(self) -> int:
        """How many nodes are directly below."""
        return sum(map(len, self.children.values()))

    def path(self) -> "list[Node]":
        """The nodes from the first block down to this one."""
        found, node = [], self
        while node.parent is not None:
            found.append(node)
            node = node.parent
        return found[::-1]

    def offspring(self) -> "Iterator[Node]":
        """The nodes directly below."""
        for bucket in self.children.values():
            yield from bucket


class RadixTree:
    """One root a namespace, made when its first block is published and dropped with its last.

    `block_hash` finds candidates quickly and never decides: a child is the one whose 64 tokens are equal.
    """

    def __init__(self, block_hash: BlockHash = hash):
        self._hash = block_hash
        self._roots: dict[Namespace, Node] = {}

    def root(self, namespace: Namespace) -> Node:
        """The namespace's root, made if there is none. For publication only: a lookup must not write."""
        node = self._roots.get(namespace)
        if node is None:
            node = self._roots[namespace] = Node(namespace, None, (), NULL_BLOCK)
        return node

    def path(self, namespace: Namespace, tokens: tuple[int, ...], limit: int) -> list[Node]:
        """The nodes of the longest prefix of tokens[:limit] that the tree holds, from the first block down."""
        found: list[Node] = []
        node = self._roots.get(namespace)
        for start in range(0, limit, BLOCK):
            if node is None:
                break
            node = self.child(node, tokens[start : start + BLOCK])
            if node is not None:
                found.append(node)
        return found

    def child(self, node: Node, tokens: tuple[int, ...]) -> Node | None:
        """The child of `node` for these 64 tokens."""
        for child in node.children.get(self._hash(tokens), ()):
            if child.tokens == tokens:
                return child
        return None

    def add(self, parent: Node, tokens: tuple[int, ...], block: int) -> Node:
        """A new child; there must be none for these tokens."""
        node = Node(parent.namespace, parent, tokens, block)
        parent.children.setdefault(self._hash(tokens), []).append(node)
        return node

    def remove(self, node: Node) -> None:
        """Take a childless node out."""
        parent = node.parent
        if parent is None or node.children:
            raise ValueError("only a node without children can be removed")
        key = self._hash(node.tokens)
        bucket = parent.children[key]
        bucket.remove(node)
        if not bucket:
            del parent.children[key]
        if parent.parent is None and not parent.children:
            del self._roots[parent.namespace]
        node.block = NULL_BLOCK

    def nodes(self) -> Iterator[Node]:
        """Every node but the roots, parents first."""
        stack = [child for root in self._roots.values() for child in root.offspring()]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.offspring())
