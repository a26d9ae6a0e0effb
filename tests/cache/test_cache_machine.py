"""Random histories of the cache against dictionaries: the same hits, the same evictions, the invariants after every step."""

from dataclasses import dataclass, field

from dict_cache import DictCache
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from isotherm.cache import Namespace, Place, PrefixCache
from isotherm.core.plan import StateWrite

BLOCKS, SLOTS, WRITERS = 10, 4, 2
WRITER = st.integers(0, WRITERS - 1)
SALTS = st.sampled_from(["", "salt"])
PROMPTS = st.text("abc", min_size=1, max_size=6)


@dataclass(eq=False)
class Writer:
    """A live sequence: its symbols so far, its table, the slot of its last block, and how much is published."""

    salt: str
    prompt: str
    table: list[int] = field(default_factory=list)
    slot: int = 0
    place: Place = field(default_factory=lambda: Place(Namespace()))

    @property
    def published(self) -> int:
        return self.place.tokens // 64

    @property
    def text(self) -> str:
        return self.prompt[: len(self.table)]


def tokens(symbols: str) -> tuple[int, ...]:
    return tuple(ord(symbol) for symbol in symbols for _ in range(64))


class CacheMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.cache = PrefixCache(BLOCKS, SLOTS, block_hash=lambda tokens: tokens[0] % 2)
        self.oracle = DictCache(BLOCKS, SLOTS)
        self.writers: list[Writer] = []
        self.written_blocks: dict[int, tuple[str, str]] = {}
        self.written_slots: dict[int, tuple[str, str]] = {}

    @precondition(lambda self: len(self.writers) < WRITERS)
    @rule(salt=SALTS, prompt=PROMPTS, count=st.integers(0, 3), publish=st.booleans())
    def begin(self, salt: str, prompt: str, count: int, publish: bool) -> None:
        writer = self._admit(salt, prompt)
        self._compute(writer, count)
        if publish:
            self._publish(writer, snapshot=True)

    @precondition(lambda self: self.writers)
    @rule(which=WRITER, count=st.integers(1, 3), snapshot=st.booleans())
    def go_on(self, which: int, count: int, snapshot: bool) -> None:
        writer = self.writers[which % len(self.writers)]
        self._compute(writer, count)
        self._publish(writer, snapshot)

    @precondition(lambda self: self.writers)
    @rule(which=WRITER, suspect=st.booleans())
    def end(self, which: int, suspect: bool) -> None:
        self._retire(self.writers[which % len(self.writers)], suspect)

    @rule(salt=SALTS, prompt=PROMPTS, step=st.integers(1, 6))
    def serve(self, salt: str, prompt: str, step: int) -> None:
        writer = self._admit(salt, prompt)
        for _ in range(0, len(prompt), step):
            self._compute(writer, step)
            self._publish(writer, snapshot=True)
        self._retire(writer, suspect=False)

    def _admit(self, salt: str, prompt: str) -> Writer:
        limit = len(prompt) - 1
        hit = self.cache.lookup(Namespace("", salt), tokens(prompt), 64 * limit)
        assert (hit.tokens // 64, hit.matched // 64) == self.oracle.lookup(salt, prompt, limit)
        self.cache.pin(hit)
        self.cache.touch(hit)
        writer = Writer(salt, prompt, list(hit.blocks), hit.slot, hit.place)
        self.writers.append(writer)
        self.oracle.held_blocks.update(hit.blocks)
        if hit.tokens:
            self.oracle.held_slots[hit.slot] += 1
            self.oracle.touch((salt, prompt[: hit.tokens // 64]))
        return writer

    def _compute(self, writer: Writer, count: int) -> None:
        count = min(count, len(writer.prompt) - len(writer.table))
        if not count:
            return
        blocks = self.cache.allocate_blocks(count)
        assert (blocks is not None) == self.oracle.take_blocks(count)
        if blocks is None:
            return
        for block in blocks:
            assert not self.oracle.held_blocks[block] and block not in self.oracle.block.values(), "a block in use"
            writer.table.append(block)
            self.written_blocks[block] = (writer.salt, writer.text)
        self.oracle.held_blocks.update(blocks)
        slot = self.cache.allocate_slot()
        assert (slot is not None) == self.oracle.take_slot()
        self._release_slot(writer)
        if slot is not None:
            assert not self.oracle.held_slots[slot] and slot not in self.oracle.slot.values(), "a slot in use"
            self.written_slots[slot] = (writer.salt, writer.text)
            writer.slot = slot
            self.oracle.held_slots[slot] += 1

    def _publish(self, writer: Writer, snapshot: bool) -> None:
        first, depth = writer.published, len(writer.table)
        wanted = {depth: writer.slot} if snapshot and writer.slot and depth else {}
        writes = [StateWrite(64 * at, slot) for at, slot in wanted.items()]
        place = Place(Namespace("", writer.salt)) if not first else writer.place
        done = self.cache.publish(place, tokens(writer.prompt[first:depth]), tuple(writer.table[first:]), writes)
        kept = self.oracle.publish(writer.salt, writer.prompt, first, writer.table[first:], wanted)
        assert (list(done.blocks), list(done.slots)) == (kept, list(wanted.values()))
        writer.table[first:] = done.blocks
        writer.place = done.place
        writer.slot = wanted.get(depth, writer.slot)

    def _retire(self, writer: Writer, suspect: bool) -> None:
        self.writers.remove(writer)
        self.cache.release_blocks(tuple(writer.table))
        self.oracle.held_blocks.subtract(writer.table)
        self._release_slot(writer)
        self.oracle.prune()
        if suspect:
            self.cache.withdraw(Namespace("", writer.salt), tokens(writer.text))
            self.oracle.withdraw(writer.salt, writer.text)

    @rule(salt=SALTS, prompt=PROMPTS)
    def look(self, salt: str, prompt: str) -> None:
        hit = self.cache.lookup(Namespace("", salt), tokens(prompt), 64 * len(prompt))
        depth, matched = self.oracle.lookup(salt, prompt, len(prompt))
        assert (hit.tokens, hit.matched) == (64 * depth, 64 * matched)
        assert list(hit.blocks) == [self.oracle.block[salt, prompt[: i + 1]] for i in range(depth)]
        assert hit.slot == (self.oracle.slot[salt, prompt[:depth]] if depth else 0)

    @invariant()
    def everything_adds_up(self) -> None:
        self.cache.check(
            [block for writer in self.writers for block in writer.table],
            [writer.slot for writer in self.writers if writer.slot],
        )
        nodes = list(self.cache._content.tree.nodes())
        assert {node.block: node.slot for node in nodes} == {
            block: self.oracle.slot.get(key, 0) for key, block in self.oracle.block.items()
        }

    @invariant()
    def what_is_published_was_written_for_its_own_tokens(self) -> None:
        """Blocks and snapshots hold what their keys say; a snapshot has all its blocks; nothing is beyond its capacity."""
        for key, block in self.oracle.block.items():
            assert self.written_blocks[block] == key
        for (salt, prefix), slot in self.oracle.slot.items():
            assert self.written_slots[slot] == (salt, prefix)
            assert all((salt, prefix[:depth]) in self.oracle.block for depth in range(1, len(prefix) + 1))
        for pool, kept, held in (
            (self.cache.blocks, self.oracle.block, self.oracle.held_blocks),
            (self.cache.slots, self.oracle.slot, self.oracle.held_slots),
        ):
            assert pool.used == len({*kept.values(), *(+held)}) <= pool.capacity

    def _release_slot(self, writer: Writer) -> None:
        self.cache.release_slot(writer.slot)
        if writer.slot:
            self.oracle.held_slots[writer.slot] -= 1
        writer.slot = 0


TestCacheAgainstDictionaries = CacheMachine.TestCase
TestCacheAgainstDictionaries.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
