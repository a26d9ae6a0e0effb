"""Sequences that go on in two runners, one that plays padded passes and one that runs plain ones, and what must be equal."""

import random
from dataclasses import replace

import torch

from isotherm.core.plan import PassPlan, SampleRow, Segment, StateWrite
from isotherm.core.sampling import SamplingParams
from isotherm.model.decoder import Decoder
from isotherm.model.state import ModelState
from isotherm.runner.capacity import Capacity
from isotherm.runner.graphs import asked_rows
from isotherm.runner.layout import lay_out
from isotherm.runner.runner import Runner

LANES, SLOTS = 12, 400


def runner(decoder: Decoder) -> Runner:
    made = Runner(decoder, Capacity(1000, SLOTS, LANES, 0, 0))
    assert made.graphs is not None
    made.graphs._most = 64
    for tensor in (*made.state.by_block().values(), *made.state.by_lane().values()):
        tensor.fill_(float("nan"))
    for tensor in made.state.by_slot().values():
        tensor[1:] = float("nan")
    return made


def everything(state: ModelState) -> list[torch.Tensor]:
    """All that sequences have; the lane and the block that nobody has apart."""
    kept = [tensor[1:] for tensor in state.by_block().values()] + list(state.by_slot().values())
    return [*kept, *(tensor[:LANES] for tensor in state.by_lane().values())]


def kept(state: ModelState) -> list[torch.Tensor]:
    """A copy of all there is."""
    return [
        tensor.clone() for named in (state.by_block(), state.by_slot(), state.by_lane()) for tensor in named.values()
    ]


def restore(state: ModelState, copies: list[torch.Tensor]) -> None:
    """As it was when it was copied."""
    tensors = [tensor for named in (state.by_block(), state.by_slot(), state.by_lane()) for tensor in named.values()]
    for tensor, copy in zip(tensors, copies, strict=True):
        tensor.copy_(copy)


class Sequences:
    """Random sequences, each in a lane and blocks of its own, that go on by the same tokens in two runners.

    starts: tokens that each has in its first pass. more: how many may come after those of `starts` and a block.
    """

    def __init__(self, seed: int, starts: list[int], more: int = 0):
        self.chance = random.Random(seed)
        ids = iter(self.chance.sample(range(1, 1000), 999))
        self.lengths = [0] * len(starts)
        self.blocks = [[next(ids) for _ in range(start // 64 + 3 + more // 64)] for start in starts]
        self.lanes = self.chance.sample(range(LANES), len(starts))
        self.states = [0] * len(starts)
        self.slots = iter(range(1, SLOTS))
        self.first = [self.segment(index, start) for index, start in enumerate(starts) if start]

    def room(self) -> int:
        """How many tokens more the fullest sequence has blocks for."""
        return min(64 * len(blocks) - length for blocks, length in zip(self.blocks, self.lengths, strict=True))

    def segment(self, index: int, count: int, rows: tuple[SampleRow, ...] = ()) -> Segment:
        """`count` tokens more of one sequence, which keeps its last boundary."""
        start = self.lengths[index]
        end = start + count
        writes = (StateWrite(end // 64 * 64, next(self.slots)),) if end // 64 > start // 64 else ()
        tokens = tuple(self.chance.randrange(500) for _ in range(count))
        made = Segment(
            index,
            self.lanes[index],
            start,
            tokens,
            tuple(self.blocks[index][: -(-end // 64)]),
            self.states[index],
            writes,
            rows,
        )
        self.lengths[index], self.states[index] = end, writes[-1].slot if writes else self.states[index]
        return made


def equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.contiguous().view(torch.uint8), b.contiguous().view(torch.uint8))


def check(played: Runner, plain: Runner, plan: PassPlan) -> None:
    """The pass, padded and plain: rows, logits, choices, and all that sequences keep."""
    assert played.graphs is not None
    out = played.graphs.play(plan)
    assert out is not None
    decoder, asked = plain.decoder, asked_rows(plan)
    hidden = decoder.forward(*decoder.kernels.placed(*lay_out(plan)), plain.state)
    assert equal(out.hidden[: plan.tokens], hidden)
    wanted = hidden[asked] if out.of_asked else hidden
    if len(out.logits):
        logits = decoder.logits(wanted)
        assert equal(out.logits[: len(wanted)], logits)
        assert out.chosen[: len(wanted)].tolist() == logits.argmax(1).tolist()
    assert all(equal(a, b) for a, b in zip(everything(played.state), everything(plain.state), strict=True))


GREEDY = SampleRow(0, SamplingParams(temperature=0.0), 0, 0)


def mixed_pass(sequences: Sequences, longest: int) -> PassPlan:
    """A prompt's chunk of 17 rows or more, and some of the others by a token, a short tail, or a chunk too."""
    chance, segments = sequences.chance, []
    some = chance.sample(range(len(sequences.lengths)), chance.randrange(1, len(sequences.lengths) + 1))
    for place, index in enumerate(some):
        room = 64 - sequences.lengths[index] % 64
        kind = "chunk" if place == 0 else chance.choice(("chunk", "token", "tail"))
        count = {"chunk": chance.randrange(17, longest), "token": 1, "tail": min(room, chance.randrange(1, 16))}[kind]
        row = replace(GREEDY, offset=count - 1)
        segments.append(sequences.segment(index, count, (row,) if chance.random() < 0.7 else ()))
    return PassPlan(tuple(segments))


def start(sequences: Sequences, *runners: Runner) -> None:
    """The first pass of the sequences, plainly."""
    for one in runners:
        one.decoder.forward(*one.decoder.kernels.placed(*lay_out(PassPlan(tuple(sequences.first)))), one.state)
