"""Played passes give the bits of plain ones, whatever fills them up."""

from pathlib import Path

import pytest
import torch

pytest.importorskip("triton", reason="Triton is not installed")

from played_checks import LANES, Sequences, check, equal, kept, mixed_pass, restore, runner, start

from isotherm.core.plan import PassPlan, Segment, StateWrite
from isotherm.kernels.load import load_kernels
from isotherm.model.decoder import Decoder
from isotherm.model.load import load_decoder
from isotherm.model.source import EMBEDDED
from isotherm.runner.layout import lay_out


@pytest.fixture(scope="module", params=["embedded", "qwen3_5_moe", "qwen4_exp"])
def decoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Decoder:
    from isotherm.model.tiny import can_write, write_tiny

    folder: Path = EMBEDDED
    if request.param != "embedded":
        if not can_write(request.param):
            pytest.skip(f"the installed transformers has no {request.param}")
        folder = tmp_path_factory.mktemp(request.param)
        write_tiny(request.param, folder, seed=1, linear_value_head_dim=32)
    return load_decoder(folder, load_kernels("triton", "auto", 1), 8192)


@pytest.mark.parametrize("starts", [[59], [60, 3, 127, 0, 200], [2040, 4100, 62, 700, 5, 63, 190, 4000, 61]], ids=len)
def test_played_passes_equal_plain_ones_to_the_last_bit_of_state(decoder: Decoder, starts: list[int]) -> None:
    played, plain, sequences = runner(decoder), runner(decoder), Sequences(len(starts), starts)
    with torch.inference_mode():
        start(sequences, played, plain)
        for turn in range(14):
            some = [index for index in range(len(starts)) if sequences.chance.random() < 0.8] or [0]
            verify = turn % 4 == 3
            segments = []
            for index in some:
                room = 64 - sequences.lengths[index] % 64
                segments.append(sequences.segment(index, min(room, sequences.chance.randrange(1, 6)) if verify else 1))
            check(played, plain, PassPlan(tuple(segments)))
    assert played.graphs.played >= 4


@pytest.mark.parametrize("starts", [[64], [60, 3, 127, 640, 200], [2040, 4100, 62, 700, 5, 63, 190, 4000, 61]], ids=len)
def test_played_prefills_equal_plain_ones_to_the_last_bit_of_state(decoder: Decoder, starts: list[int]) -> None:
    """Each pass runs padded and is recorded, or is played; a second time it is played in any case."""
    played, plain, sequences = runner(decoder), runner(decoder), Sequences(len(starts) + 7, starts, more=3000)
    played.graphs._wait = False
    with torch.inference_mode():
        start(sequences, played, plain)
        for turn in range(30):
            plan = mixed_pass(sequences, (100, 250, 64)[turn % 3])
            before, held = played.graphs.played, [kept(one.state) for one in (played, plain)]
            check(played, plain, plan)
            for one, tensors in zip((played, plain), held, strict=True):
                restore(one.state, tensors)
            check(played, plain, plan)
            assert played.graphs.played > before
            if max(sequences.lengths) > 7000 or sequences.room() < 300:
                break
    assert turn >= 8


def test_a_prefill_is_recorded_when_its_size_comes_again(decoder: Decoder) -> None:
    played, plain, sequences = runner(decoder), runner(decoder), Sequences(3, [64], more=1000)
    with torch.inference_mode():
        start(sequences, played, plain)
        first = sequences.segment(0, 64)
        for one in (played, plain):
            assert one.graphs.play(PassPlan((first,))) is None
            one.decoder.forward(*decoder.kernels.placed(*lay_out(PassPlan((first,)))), one.state)
        for turn in range(3):
            check(played, plain, PassPlan((sequences.segment(0, 64),)))
            assert played.graphs.played == turn


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
            few = made.graphs.play(plan).logits[:3].clone()
            made.graphs._wait = False
            prompt = PassPlan((Segment(0, 3, 0, tuple(range(7, 107)), (4, 5), 0, (StateWrite(64, 1),)),))
            found.append(torch.cat([few, decoder.logits(made.graphs.play(prompt).hidden[:100])]))
    assert torch.isfinite(found[0]).all() and equal(*found)
