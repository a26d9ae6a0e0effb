"""A runner without a model: the next token is a hash of all tokens so far, and memory remembers what was written to it.

Every read checks that the memory holds exactly what it should; reading a freed or unwritten id, or writing one twice, raises.
"""

from dataclasses import dataclass, field

from isotherm.core.constants import BLOCK, ZERO_SLOT, block_floor, blocks_for
from isotherm.core.plan import HostCopies, PassPlan, PassResult, RowResult, SampleRow, ScoreRow, Segment
from isotherm.core.vocabulary import Vocabulary

VOCAB = 48
EOS = 47
SPECIAL = 46
POISON = 45
"""A prompt that contains this token has logits that are not finite, from that position on."""

EMPTY = 0x9E3779B9


def letters() -> Vocabulary:
    """One letter a token; EOS and SPECIAL are special."""
    return Vocabulary(tuple(bytes([65 + i]) for i in range(VOCAB)), frozenset({SPECIAL, EOS}), (EOS,))


def fold(state: int, token: int) -> int:
    """The state after one more token: different for every sequence of tokens, up to luck."""
    return (state * 6364136223846793005 + token * 1442695040888963407 + 0x9E3779B97F4A7C15) % 2**61


def fold_all(tokens: tuple[int, ...]) -> int:
    """The state after all of `tokens`."""
    state = EMPTY
    for token in tokens:
        state = fold(state, token)
    return state


@dataclass
class Lane:
    """Rows since the last boundary of the sequence that has the lane."""

    sequence: int
    boundary: int
    tokens: list[int] = field(default_factory=list)


class FakeRunner:
    """Runs plans. It is also the cache's observer, so it knows what was freed and compares duplicates."""

    def __init__(self) -> None:
        self.blocks: dict[int, dict[int, tuple[int, int]]] = {}
        self.slots: dict[int, tuple[int, int]] = {ZERO_SLOT: (0, EMPTY)}
        self.lanes: dict[int, Lane] = {}
        self.poisoned: set[int] = set()
        self.verified: dict[int, tuple[int, int]] = {}
        self.duplicates = 0
        self.rows = 0
        self.host_blocks: dict[int, dict[int, tuple[int, int]]] = {}
        self.host_slots: dict[int, tuple[int, int]] = {}
        self.freed_here: list[tuple[str, int]] = []
        self.brought = 0

    def duplicate(self, kind: str, kept: int, duplicate: int) -> None:
        self.duplicates += 1
        memory = self.blocks if kind == "block" else self.slots
        assert memory[kept] == memory[duplicate], f"{kind}s {kept} and {duplicate} should be equal"

    def freed(self, kind: str, identity: int) -> None:
        """What is freed of the device's memory may be copied out in the next plan; nobody else reads it."""
        if kind.startswith("host"):
            (self.host_blocks if kind == "host block" else self.host_slots).pop(identity, None)
        else:
            self.freed_here.append((kind, identity))

    def _forget(self) -> None:
        for kind, identity in self.freed_here:
            if kind == "slot":
                self.slots.pop(identity, None)
                continue
            self.blocks.pop(identity, None)
            self.verified.pop(identity, None)
            self.poisoned.discard(identity)
        self.freed_here.clear()

    def _carry(self, copies: HostCopies) -> None:
        for source, target in copies.blocks_out:
            assert target not in self.host_blocks, f"host block {target} is written twice"
            self.host_blocks[target] = self.blocks[source]
        for source, target in copies.slots_out:
            assert target not in self.host_slots, f"host slot {target} is written twice"
            self.host_slots[target] = self.slots[source]
        self._forget()
        for source, target in copies.blocks_in:
            assert target not in self.blocks, f"block {target} is written twice"
            self.blocks[target] = dict(self.host_blocks[source])
            if any(token == POISON for token, _ in self.blocks[target].values()):
                self.poisoned.add(target)
        for source, target in copies.slots_in:
            assert target not in self.slots, f"slot {target} is written twice"
            self.slots[target] = self.host_slots[source]
        self.brought += len(copies.slots_in)

    def run(self, plan: PassPlan) -> PassResult:
        self._carry(plan.host)
        self._check_batch(plan)
        self.rows += plan.tokens
        return PassResult(tuple(self._run(segment) for segment in plan.segments))

    def _check_batch(self, plan: PassPlan) -> None:
        assert plan.segments, "an empty pass"
        for name in ("sequence", "lane"):
            values = [getattr(segment, name) for segment in plan.segments]
            assert len(set(values)) == len(values), f"two segments share a {name}"
        written = [write.slot for segment in plan.segments for write in segment.writes]
        assert len(set(written)) == len(written), "a slot is written twice in a pass"
        assert not set(written) & {segment.state for segment in plan.segments}, "a slot is read and written in one pass"

    def _run(self, segment: Segment) -> tuple[RowResult, ...]:
        state = self._state_at(segment)
        self._check_context(segment, state)
        states = []
        lane = self.lanes[segment.lane]
        for position, token in enumerate(segment.tokens, segment.start):
            state = fold(state, token)
            states.append(state)
            self._write_row(segment.blocks[position // BLOCK], position % BLOCK, token, state)
            lane.tokens.append(token)
            if (position + 1) % BLOCK == 0:
                lane.boundary, lane.tokens = position + 1, []
        self._write_states(segment, states)
        return tuple(self._answer(segment, row, states) for row in segment.rows)

    def _state_at(self, segment: Segment) -> int:
        boundary = block_floor(segment.start)
        assert segment.state in self.slots, f"slot {segment.state} is read and was not written"
        position, state = self.slots[segment.state]
        assert position == boundary, f"slot {segment.state} holds position {position}, not {boundary}"
        if segment.start == boundary:
            self.lanes[segment.lane] = Lane(segment.sequence, boundary)
        lane = self.lanes[segment.lane]
        assert (lane.sequence, lane.boundary) == (segment.sequence, boundary), "the lane is another's"
        assert len(lane.tokens) == segment.start - boundary, "the lane's rows do not reach the segment"
        for token in lane.tokens:
            state = fold(state, token)
        return state

    def _check_context(self, segment: Segment, state: int) -> None:
        assert len(segment.blocks) == blocks_for(segment.end), "the block table does not fit the segment"
        assert len(set(segment.blocks)) == len(segment.blocks), "a block is in the table twice"
        before = EMPTY
        for index in range(blocks_for(segment.start)):
            count = min(BLOCK, segment.start - index * BLOCK)
            before = self._read_block(segment.blocks[index], before, count)
        assert before == state, "the keys and the state are of different sequences"

    def _read_block(self, block: int, before: int, count: int) -> int:
        """The state after `count` rows of a block, every row checked; what a full block was found to hold is remembered."""
        if count == BLOCK and block in self.verified:
            assert self.verified[block][0] == before, f"block {block} follows other tokens"
            return self.verified[block][1]
        rows, state = self.blocks.get(block, {}), before
        for offset in range(count):
            assert offset in rows, f"offset {offset} of block {block} is read and was not written"
            token, after = rows[offset]
            state = fold(state, token)
            assert after == state, f"offset {offset} of block {block} holds a row of another sequence"
        if count == BLOCK:
            self.verified[block] = (before, state)
        return state

    def _write_row(self, block: int, offset: int, token: int, state: int) -> None:
        rows = self.blocks.setdefault(block, {})
        assert offset not in rows, f"offset {offset} of block {block} is written twice"
        rows[offset] = (token, state)
        if token == POISON:
            self.poisoned.add(block)

    def _write_states(self, segment: Segment, states: list[int]) -> None:
        positions = [write.position for write in segment.writes]
        assert positions == sorted(set(positions)), "writes do not ascend"
        last = block_floor(segment.end)
        assert (last in positions) == (last > segment.start), "the last boundary crossed must be written"
        for write in segment.writes:
            assert segment.start < write.position <= segment.end and write.position % BLOCK == 0
            assert write.slot not in self.slots, f"slot {write.slot} is written twice"
            self.slots[write.slot] = (write.position, states[write.position - segment.start - 1])

    def _answer(self, segment: Segment, row: SampleRow | ScoreRow, states: list[int]) -> RowResult:
        state = states[row.offset]
        finite = self.poisoned.isdisjoint(segment.blocks)
        if isinstance(row, ScoreRow):
            return RowResult(row.token, *score(state, row.token, row.top), finite=finite)
        if row.params.needs_history:
            state = fold(state, fold_all(row.prompt) ^ fold_all(row.history))
        token = choose(state, row)
        return RowResult(token, *score(state, token, row.params.logprobs or 0), finite=finite)


def choose(state: int, row: SampleRow) -> int:
    """A token that is a function of state, seed, choice and what is banned; never POISON."""
    token = fold(state, row.seed * 31 + row.choice) % VOCAB
    while token in row.banned or token == POISON:
        token = (token + 1) % VOCAB
    return token


def score(state: int, token: int, top: int) -> tuple[float, int, tuple[tuple[int, float], ...]]:
    """Log-probability, rank and likeliest tokens: functions of state and token."""
    logprob = -(fold(state, token) % 1000) / 100.0
    return logprob, 1 + fold(state, token) % VOCAB, tuple((i, -float(fold(state, i) % 97)) for i in range(top))
