"""GreedyDual over snapshots: what it saves against when it was used."""

import pytest

from isotherm.cache.eviction import EvictionOrder, tokens_saved, worth
from isotherm.cache.tree import Namespace, Node, RadixTree


class Chain:
    """Nodes below one another, with snapshots put where a test wants them."""

    def __init__(self) -> None:
        self.tree = RadixTree()
        self.order = EvictionOrder()
        self.ids = 0

    def grow(self, parent: Node | None, blocks: int) -> Node:
        node = parent or self.tree.root(Namespace())
        for _ in range(blocks):
            self.ids += 1
            node = self.tree.add(node, (self.ids,) * 64, self.ids)
        return node

    def keep(self, node: Node) -> Node:
        self.ids += 1
        node.slot = self.ids
        self.order.add(node)
        return node

    def evict(self) -> Node | None:
        node = self.order.lowest(lambda _: True)
        if node is not None:
            node.slot = 0
            self.order.remove(node)
        return node


def test_a_snapshot_saves_the_tokens_down_from_the_one_above() -> None:
    chain = Chain()
    above = chain.keep(chain.grow(None, 3))
    below = chain.keep(chain.grow(above, 2))
    assert (tokens_saved(above), tokens_saved(below)) == (192, 128)
    above.slot = 0
    chain.order.remove(above)
    assert tokens_saved(below) == 320


def test_the_one_that_saves_least_goes_first() -> None:
    chain = Chain()
    long, short = chain.keep(chain.grow(None, 9)), chain.keep(chain.grow(None, 2))
    assert [chain.evict(), chain.evict(), chain.evict()] == [short, long, None]


def test_among_equals_the_one_used_longest_ago_goes_first() -> None:
    chain = Chain()
    first, second = chain.keep(chain.grow(None, 2)), chain.keep(chain.grow(None, 2))
    chain.order.touch(first)
    assert [chain.evict(), chain.evict()] == [second, first]


def test_an_unused_snapshot_ages_out_however_much_it_saves() -> None:
    chain = Chain()
    large = chain.keep(chain.grow(None, 5))
    evicted = []
    for _ in range(8):
        chain.keep(chain.grow(None, 2))
        evicted.append(chain.evict())
    assert large in evicted
    assert evicted.index(large) > 1, "it should outlive the first small ones"


def test_a_snapshot_is_worth_more_once_the_one_above_is_gone() -> None:
    chain = Chain()
    above = chain.keep(chain.grow(None, 1))
    below = chain.keep(chain.grow(above, 2))
    other = chain.keep(chain.grow(None, 3))
    chain.order.touch(below)
    assert chain.evict() is above
    assert chain.evict() is other, "below saves 192 tokens now, and was used later"


def test_a_snapshot_is_worth_less_once_there_is_one_above() -> None:
    chain = Chain()
    middle = chain.grow(None, 9)
    below = chain.keep(chain.grow(middle, 1))
    other = chain.keep(chain.grow(None, 2))
    chain.keep(middle)
    assert [chain.evict(), chain.evict()] == [below, other]


@pytest.mark.parametrize(("followers", "value"), [(0, 256), (1, 64), (2, 256), (3, 256)])
def test_a_snapshot_that_everything_passed_through_is_worth_a_quarter(followers: int, value: int) -> None:
    chain = Chain()
    node = chain.keep(chain.grow(None, 4))
    for _ in range(followers):
        chain.grow(node, 1)
    assert worth(node) == value


def test_what_may_not_be_evicted_is_passed_over_and_stays() -> None:
    chain = Chain()
    small, large = chain.keep(chain.grow(None, 1)), chain.keep(chain.grow(None, 2))
    assert chain.order.lowest(lambda node: node is not small) is large
    assert chain.order.lowest(lambda _: False) is None
    assert chain.evict() is small


def test_the_heap_does_not_grow_with_use() -> None:
    chain = Chain()
    nodes = [chain.keep(chain.grow(None, 1)) for _ in range(10)]
    for i in range(5000):
        chain.order.touch(nodes[i % 10])
    assert len(chain.order._heap) < 200
