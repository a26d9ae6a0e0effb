"""Played passes give the bits of plain ones, whatever fills them up."""

import random
from pathlib import Path

import pytest
import torch

pytest.importorskip("triton", reason="Triton is not installed")

from isotherm.core.plan import PassPlan, Segment, StateWrite
from isotherm.kernels.load import load_kernels
from isotherm.model.decoder import Decoder
from isotherm.model.load import load_decoder
from isotherm.model.source import EMBEDDED
from isotherm.model.state import ModelState
from isotherm.runner.capacity import Capacity
from isotherm.runner.layout import lay_out
from isotherm.runner.runner import Runner

LANES = 12


@pytest.fixture(scope="module", params=["embedded", "qwen3_5_moe"])
def decoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Decoder:
    from isotherm.model.tiny import write_tiny

    folder: Path = EMBEDDED
    if request.param != "embedded":
        folder = tmp_path_factory.mktemp(request.param)
        write_tiny(request.param, folder, seed=1, linear_value_head_dim=32)
    return load_decoder(folder, load_kernels("triton", "auto", 1), 8192)


def runner(decoder: Decoder) -> Runner:
    made = Runner(decoder, Capacity(1000, 100, LANES, 0, 0))
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


class Sequences:
    """Random sequences, each in a lane and blocks of its own, that go on by the same tokens in two runners."""

    def __init__(self, seed: int, starts: list[int]):
        self.chance = random.Random(seed)
        ids = iter(self.chance.sample(range(1, 1000), 999))
        self.lengths = [0] * len(starts)
        self.blocks = [[next(ids) for _ in range(start // 64 + 3)] for start in starts]
        self.lanes = self.chance.sample(range(LANES), len(starts))
        self.states = [0] * len(starts)
        self.slots = iter(range(1, 100))
        self.first = [self.segment(index, start) for index, start in enumerate(starts) if start]

    def segment(self, index: int, count: int) -> Segment:
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
        )
        self.lengths[index], self.states[index] = end, writes[-1].slot if writes else self.states[index]
        return made


def equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.contiguous().view(torch.uint8), b.contiguous().view(torch.uint8))


@pytest.mark.parametrize("starts", [[59], [60, 3, 127, 0, 200], [2040, 4100, 62, 700, 5, 63, 190, 4000, 61]], ids=len)
def test_played_passes_equal_plain_ones_to_the_last_bit_of_state(decoder: Decoder, starts: list[int]) -> None:
    played, plain, sequences = runner(decoder), runner(decoder), Sequences(len(starts), starts)
    with torch.inference_mode():
        for one in (played, plain):
            one.decoder.forward(*decoder.kernels.placed(*lay_out(PassPlan(tuple(sequences.first)))), one.state)
        for turn in range(14):
            some = [index for index in range(len(starts)) if sequences.chance.random() < 0.8] or [0]
            verify = turn % 4 == 3
            segments = []
            for index in some:
                room = 64 - sequences.lengths[index] % 64
                segments.append(sequences.segment(index, min(room, sequences.chance.randrange(1, 6)) if verify else 1))
            plan = PassPlan(tuple(segments))
            out = played.graphs.play(plan)
            assert out is not None
            hidden = plain.decoder.forward(*decoder.kernels.placed(*lay_out(plan)), plain.state)
            logits = decoder.logits(hidden)
            rows = plan.tokens
            assert equal(out.hidden[:rows], hidden) and equal(out.logits[:rows], logits), turn
            assert out.chosen[:rows].tolist() == logits.argmax(1).tolist()
            assert all(equal(a, b) for a, b in zip(everything(played.state), everything(plain.state), strict=True)), (
                turn
            )
    assert played.graphs.played >= 4


def test_what_fills_a_pass_may_be_nan(decoder: Decoder) -> None:
    """Block 0 and the lane of rows that fill a pass hold NaN, and no live row sees it."""
    found = []
    for value in (float("nan"), 0.0):
        made = runner(decoder)
        for tensor in made.state.by_block().values():
            tensor[0] = value
        for tensor in made.state.by_lane().values():
            tensor[LANES] = value
        plan = PassPlan(tuple(Segment(n, n, 0, (7 + n,), (n + 1,), 0) for n in range(3)))
        with torch.inference_mode():
            found.append(made.graphs.play(plan).logits[:3].clone())
    assert torch.isfinite(found[0]).all() and equal(*found)
