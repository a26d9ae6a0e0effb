"""Random histories of a cache with a host tier over memory that remembers what it holds: nothing is lost, nothing is aliased."""

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from isotherm.cache import Namespace, Place, TieredPrefixCache
from isotherm.core.plan import StateWrite

WRITERS = 3
WRITER = st.integers(0, WRITERS - 1)
SALTS = st.sampled_from(["", "salt"])
PROMPTS = st.text("abc", min_size=1, max_size=5)

Content = tuple[str, str]
"""(salt, prefix in symbols) of a block or a state; each symbol stands for one block."""


class Memory:
    """What each id of both tiers holds. It is the cache's observer: what is freed here may still be copied out, before `ran`."""

    def __init__(self) -> None:
        self.held: dict[str, dict[int, Content]] = {kind: {} for kind in ("block", "slot", "host block", "host slot")}
        self.freed_here: list[tuple[str, int]] = []

    def duplicate(self, kind: str, kept: int, duplicate: int) -> None:
        assert self.held[kind][kept] == self.held[kind][duplicate]

    def freed(self, kind: str, identity: int) -> None:
        if kind.startswith("host"):
            self.held[kind].pop(identity, None)
        else:
            self.freed_here.append((kind, identity))

    def carry(self, cache: TieredPrefixCache) -> None:
        copies = cache.moves()
        for kind, pairs in (("block", copies.blocks_out), ("slot", copies.slots_out)):
            for source, target in pairs:
                assert target not in self.held[f"host {kind}"], "a host id is written twice"
                self.held[f"host {kind}"][target] = self.held[kind][source]
        for kind, identity in self.freed_here:
            self.held[kind].pop(identity, None)
        self.freed_here.clear()
        for kind, pairs in (("block", copies.blocks_in), ("slot", copies.slots_in)):
            for source, target in pairs:
                assert target not in self.held[kind], "an id is written twice"
                self.held[kind][target] = self.held[f"host {kind}"][source]


@dataclass(eq=False)
class Writer:
    salt: str
    prompt: str
    table: list[int] = field(default_factory=list)
    slot: int = 0
    place: Place = field(default_factory=lambda: Place(Namespace()))
    written: int = 0

    @property
    def text(self) -> str:
        return self.prompt[: len(self.table)]


def tokens(symbols: str) -> tuple[int, ...]:
    return tuple(ord(symbol) for symbol in symbols for _ in range(64))


def _deepest(salt: str, prompt: str, kept: set[Content]) -> int:
    return max((depth for depth in range(1, len(prompt) + 1) if (salt, prompt[:depth]) in kept), default=0)


class Tiers(RuleBasedStateMachine):
    """Between two passes, writers come, plan blocks and end; `run` is a pass: copies, writes, completion, publication."""

    capacity = (6, 3, 7, 3)
    lossless = False

    def __init__(self) -> None:
        super().__init__()
        self.memory = Memory()
        self.cache = TieredPrefixCache(*self.capacity, observer=self.memory, block_hash=lambda tokens: tokens[0] % 2)
        self.writers: list[Writer] = []
        self.kept: set[Content] = set()

    @precondition(lambda self: len(self.writers) < WRITERS)
    @rule(salt=SALTS, prompt=PROMPTS, count=st.integers(0, 5))
    def begin(self, salt: str, prompt: str, count: int) -> None:
        self._admit(salt, prompt)
        if count and self.writers:
            self.plan(len(self.writers) - 1, count)

    @precondition(lambda self: len(self.writers) < WRITERS)
    @rule(salt=SALTS, prompts=st.lists(PROMPTS, min_size=1, max_size=4))
    def serve(self, salt: str, prompts: list[str]) -> None:
        """Requests one after the other, beside those that are there."""
        for prompt in prompts:
            others = len(self.writers)
            self._admit(salt, prompt)
            if len(self.writers) > others:
                self.plan(others, len(prompt))
                self.run()
                self.end(others, suspect=False)

    def _admit(self, salt: str, prompt: str) -> None:
        hit = self.cache.lookup(Namespace("", salt), tokens(prompt), 64 * (len(prompt) - 1))
        self._expect(salt, prompt[:-1], hit.tokens // 64)
        if self.cache.is_coming(hit):
            return
        needed = len(hit.host.blocks) - len(hit.blocks) if hit.host else 0
        if self.cache.blocks.available - self.cache.idle_blocks(hit) < needed:
            return
        if hit.host and not self.cache.slots.available:
            return
        self.cache.pin(hit)
        self.cache.touch(hit)
        blocks, slot = self.cache.bring(hit)
        self.writers.append(Writer(salt, prompt, list(blocks), slot, hit.place, len(blocks)))

    @precondition(lambda self: self.writers)
    @rule(which=WRITER, count=st.integers(1, 3))
    def plan(self, which: int, count: int) -> None:
        writer = self.writers[which % len(self.writers)]
        count = min(count, len(writer.prompt) - len(writer.table))
        if count and self.cache.slots.available and (blocks := self.cache.allocate_blocks(count)) is not None:
            writer.table += blocks

    @rule()
    def run(self) -> None:
        planned = {writer: self.cache.allocate_slot() for writer in self.writers if writer.written < len(writer.table)}
        self.memory.carry(self.cache)
        for writer, slot in planned.items():
            for depth in range(writer.written, len(writer.table)):
                self._write("block", writer.table[depth], (writer.salt, writer.prompt[: depth + 1]))
            if slot is not None:
                self._write("slot", slot, (writer.salt, writer.text))
        self.cache.moved()
        for writer in self.writers:
            if at := self.cache.arrived(writer.slot):
                self._publish(writer, at // 64)
        for writer, slot in planned.items():
            self.cache.release_slot(writer.slot)
            writer.slot, writer.written = slot or 0, len(writer.table)
            self._publish(writer, len(writer.table))

    @precondition(lambda self: self.writers)
    @rule(which=WRITER, suspect=st.booleans())
    def end(self, which: int, suspect: bool) -> None:
        writer = self.writers[which % len(self.writers)]
        if writer.written < len(writer.table) or self.cache._brought:
            return  # it is in the next pass
        self.writers.remove(writer)
        self.cache.release_blocks(tuple(writer.table))
        self.cache.release_slot(writer.slot)
        if suspect and not self.lossless:
            self.cache.withdraw(Namespace("", writer.salt), tokens(writer.text))

    def _write(self, kind: str, identity: int, content: Content) -> None:
        assert identity not in self.memory.held[kind], f"{kind} {identity} is written twice"
        self.memory.held[kind][identity] = content

    def _publish(self, writer: Writer, depth: int) -> None:
        first = writer.place.tokens // 64
        depth = max(depth, first)
        if not writer.slot or not depth:
            return
        place = writer.place if writer.place.node else Place(Namespace("", writer.salt))
        write = StateWrite(64 * depth, writer.slot)
        done = self.cache.publish(place, tokens(writer.prompt[first:depth]), tuple(writer.table[first:depth]), [write])
        writer.table[first:depth], (writer.slot,), writer.place = done.blocks, done.slots, done.place
        self.kept.add((writer.salt, writer.prompt[:depth]))

    def _expect(self, salt: str, prompt: str, found: int) -> None:
        """The deepest snapshot in either tier: of every one that ever was, where the host has room and no copy is under way."""
        there = {
            self.memory.held[f"{prefix}slot"][slot]
            for tier, prefix in ((self.cache, ""), (self.cache.host, "host "))
            for _, _, slot in tier.published()
            if slot
        }
        assert found == _deepest(salt, prompt, there)
        if self.lossless and not self.cache._planned.leaving:
            assert found == _deepest(salt, prompt, self.kept), "something was lost between the tiers"

    @invariant()
    def both_tiers_add_up(self) -> None:
        self.cache.check(
            [block for writer in self.writers for block in writer.table],
            [writer.slot for writer in self.writers if writer.slot],
        )
        host, stats = self.cache.host, self.cache.host_stats()
        assert (stats.blocks_used, stats.slots_used) == (host.blocks.used, host.slots.used)
        assert host.blocks.used <= self.capacity[2] and host.slots.used <= self.capacity[3]

    @invariant()
    def what_is_published_holds_what_its_key_says(self) -> None:
        for tier, prefix in ((self.cache, ""), (self.cache.host, "host ")):
            for path, block, slot in tier.published():
                assert tokens(self.memory.held[f"{prefix}block"][block][1]) == path
                if slot:
                    assert tokens(self.memory.held[f"{prefix}slot"][slot][1]) == path


class RoomyHost(Tiers):
    """A host with room for every prefix there is: nothing that was ever kept is forgotten."""

    capacity = (6, 3, 800, 800)
    lossless = True


TestTiers = Tiers.TestCase
TestTiers.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
TestRoomyHost = RoomyHost.TestCase
TestRoomyHost.settings = settings(max_examples=50, stateful_step_count=40, deadline=None)


def test_a_history_moves_snapshots_out_and_back() -> None:
    """A machine in which nothing moves would be no proof."""
    machine = RoomyHost()
    for prompt in ("aaaa", "bbbb", "cccc", "aaaab", "bbbba", "ccccb"):
        machine.serve("", [prompt])
        machine.both_tiers_add_up()
        machine.what_is_published_holds_what_its_key_says()
    stats = machine.cache.host_stats()
    assert stats.offloaded_snapshots >= 3 and stats.reloaded_snapshots >= 2
