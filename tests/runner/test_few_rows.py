"""Played passes: the bits of the passes that they stand for, in any order of sizes, over memory that holds nothing."""

import random
from pathlib import Path

import pytest
import torch

from isotherm.core.plan import PassPlan, Segment, StateWrite
from isotherm.kernels.load import load_kernels
from isotherm.model.decoder import Decoder
from isotherm.model.load import load_decoder
from isotherm.model.state import ModelState, allocate
from isotherm.runner.few_rows import FewRows
from isotherm.runner.layout import lay_out

LANES, LENGTH = 3, 150


@pytest.fixture(scope="module", params=["bfloat16", "float32"])
def decoder(request: pytest.FixtureRequest, checkpoints: dict[str, Path]) -> Decoder:
    return load_decoder(checkpoints["qwen3_5"], load_kernels("c", request.param, 2), 256)


def empty_state(decoder: Decoder) -> ModelState:
    """Three lanes of three blocks and slots each, NaN until written."""
    state = allocate(decoder.spec, decoder.kernels, 3 * LANES + 1, 3 * LANES + 1, LANES)
    for tensor in (*state.by_block().values(), *state.by_lane().values()):
        tensor.fill_(torch.nan)
    for tensor in state.by_slot().values():
        tensor[1:] = torch.nan
    return state


def segment(lane: int, start: int, tokens: tuple[int, ...]) -> Segment:
    end, first = start + len(tokens), 3 * lane
    boundaries = range(start // 64 * 64 + 64, end + 1, 64)
    return Segment(
        sequence=lane,
        lane=lane,
        start=start,
        tokens=tokens,
        blocks=tuple(range(first + 1, first + 1 + -(-end // 64))),
        state=first + start // 64 if start >= 64 else 0,
        writes=tuple(StateWrite(boundary, first + boundary // 64) for boundary in boundaries),
    )


def passes(seed: int) -> list[PassPlan]:
    """Three sequences side by side, one to four tokens a segment, some of them absent from a pass."""
    rng = random.Random(seed)
    lengths, plans = [0] * LANES, []
    while min(lengths) < LENGTH:
        segments = []
        for lane in range(LANES):
            count = min(rng.choice((0, 1, 1, 1, 2, 4)), LENGTH - lengths[lane])
            if count:
                segments.append(segment(lane, lengths[lane], tuple(rng.randrange(512) for _ in range(count))))
                lengths[lane] += count
        if segments:
            plans.append(PassPlan(tuple(segments)))
    return plans


@torch.inference_mode()
def test_a_played_pass_has_the_bits_of_the_pass(decoder: Decoder) -> None:
    plain, played = empty_state(decoder), empty_state(decoder)
    few = FewRows(decoder, played)
    for plan in passes(seed=1):
        batch, tokens = lay_out(plan)
        expected = decoder.forward(batch, tokens, plain)
        for chunk in few.recorded._workspace._chunks:
            chunk.fill_(255)  # NaN in either type
        assert torch.equal(few.forward(batch, tokens), expected)
    for ours, theirs in ((played.by_slot(), plain.by_slot()), (played.by_block(), plain.by_block())):
        assert all(torch.equal(ours[name].view(torch.uint8), theirs[name].view(torch.uint8)) for name in theirs)


@torch.inference_mode()
def test_a_size_is_recorded_once(decoder: Decoder, monkeypatch: pytest.MonkeyPatch) -> None:
    few, recorded = FewRows(decoder, empty_state(decoder)), []
    record = few.recorded._record
    monkeypatch.setattr(few.recorded, "_record", lambda *a: (recorded.append(a[0].rows), record(*a))[1])
    plans = passes(seed=2)
    for plan in plans:
        few.forward(*lay_out(plan))
    assert sorted(recorded) == sorted({sum(len(item.tokens) for item in plan.segments) for plan in plans})


def test_passes_that_torch_takes_part_in_are_not_recorded(checkpoints: dict[str, Path], decoder: Decoder) -> None:
    assert FewRows.can_record(decoder)
    mixture = load_decoder(checkpoints["qwen3_5_moe"], load_kernels("c", "float32", 1), 256)
    assert not FewRows.can_record(mixture)
    in_torch = load_decoder(checkpoints["qwen3_5"], load_kernels("torch", "float32", 1), 256)
    assert not FewRows.can_record(in_torch)
