"""What must hold of the cache after every step."""

from collections import Counter
from collections.abc import Iterable

from isotherm.cache.content import Content


def check_content(content: Content, held_blocks: Iterable[int] | None, held_slots: Iterable[int] | None) -> None:
    """Assert references, aliasing, and that nothing useless stays. None for the holders leaves holder counts unchecked."""
    content.blocks.check(None if held_blocks is None else dict(Counter(held_blocks)))
    content.slots.check(None if held_slots is None else dict(Counter(held_slots)))
    nodes = list(content.tree.nodes())
    blocks = [node.block for node in nodes]
    slots = [node.slot for node in nodes if node.has_snapshot]
    assert len(set(blocks)) == len(blocks), "two nodes share a block"
    assert len(set(slots)) == len(slots), "two snapshots share a slot"
    assert content.nodes() == {node.block: node for node in nodes}, "the index of nodes is wrong"
    _check_kept(content, blocks, slots)
    for node in nodes:
        parent = node.parent
        assert parent is not None and node.end == parent.end + len(node.tokens), "a node is not below its parent"
        held = content.blocks.holders(node.block) > 0
        if held and parent.parent is not None:
            assert content.blocks.holders(parent.block), "a block is held and the one before it is not"
        if not held and not node.children:
            assert node.has_snapshot, "a block that nobody holds, with no snapshot at or below it, was kept"


def _check_kept(content: Content, blocks: list[int], slots: list[int]) -> None:
    for pool, ids, what in ((content.blocks, blocks, "block"), (content.slots, slots, "slot")):
        kept = {identity for identity in range(1, pool.capacity + 1) if pool.kept(identity)}
        assert kept == set(ids), f"the {what}s kept {kept} are not those in the tree {set(ids)}"
