"""Tokens decide, hashes index, namespaces part."""

from isotherm.cache.tree import Namespace, RadixTree

HERE = Namespace()


def block(symbol: int) -> tuple[int, ...]:
    return (symbol,) * 64


def plant(tree: RadixTree, namespace: Namespace, *symbols: int) -> None:
    node = tree.root(namespace)
    for i, symbol in enumerate(symbols):
        node = tree.child(node, block(symbol)) or tree.add(node, block(symbol), 100 * symbol + i + 1)


def symbols(tree: RadixTree, namespace: Namespace, *wanted: int, limit: int | None = None) -> list[int]:
    tokens = tuple(token for symbol in wanted for token in block(symbol))
    return [node.tokens[0] for node in tree.path(namespace, tokens, len(tokens) if limit is None else limit)]


def test_the_longest_held_prefix_is_found() -> None:
    tree = RadixTree()
    plant(tree, HERE, 1, 2, 3)
    assert symbols(tree, HERE, 1, 2, 4) == [1, 2]
    assert symbols(tree, HERE, 2) == []


def test_the_limit_cuts_the_path() -> None:
    tree = RadixTree()
    plant(tree, HERE, 1, 2, 3)
    assert symbols(tree, HERE, 1, 2, 3, limit=128) == [1, 2]


def test_the_same_block_elsewhere_is_another_node() -> None:
    tree = RadixTree()
    plant(tree, HERE, 1, 2)
    plant(tree, HERE, 2, 1)
    assert len(list(tree.nodes())) == 4


def test_blocks_whose_hashes_collide_are_told_apart() -> None:
    tree = RadixTree(block_hash=lambda _: 7)
    plant(tree, HERE, 1, 2)
    plant(tree, HERE, 3)
    assert symbols(tree, HERE, 3, 2) == [3]
    assert symbols(tree, HERE, 4) == []
    assert symbols(tree, HERE, 1, 2) == [1, 2]


def test_namespaces_share_nothing() -> None:
    tree = RadixTree()
    plant(tree, Namespace("", "a"), 1)
    assert symbols(tree, Namespace("", "b"), 1) == []
    assert symbols(tree, Namespace("a", ""), 1) == []


def test_searching_an_unknown_namespace_makes_no_root_and_removing_the_last_block_drops_it() -> None:
    tree = RadixTree()
    assert symbols(tree, HERE, 1) == []
    assert not tree._roots
    plant(tree, HERE, 1)
    (node,) = tree.nodes()
    tree.remove(node)
    assert not tree._roots
    assert node.block == 0
