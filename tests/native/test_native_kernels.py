"""The native kernel set: near the truth, right states wherever a segment ends, and replays as they are told."""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from isotherm.core.plan import PassPlan, Replay, Segment, StateWrite
from isotherm.kernels.gated_delta import reference
from isotherm.kernels.load import load_kernels
from isotherm.kernels.segments import one_segment
from isotherm.kernels.state import DeltaShape, KVShape
from isotherm.model.load import load_decoder
from isotherm.native.kernels import NativeKernels
from isotherm.runner.forward import logits_of
from isotherm.runner.layout import lay_out

KINDS = ("qwen3_5", "qwen3_next", "qwen3_5_moe")
SHAPE = DeltaShape(key_heads=2, value_heads=4, key_dim=16, value_dim=24)


def tokens(length: int) -> list[int]:
    return torch.randint(0, 512, (length,), generator=torch.Generator().manual_seed(length)).tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cuts", [(), (1, 64, 100), tuple(range(150, 200))], ids=["one pass", "cut", "decode"])
def test_logits_are_as_near_the_float32_ones_as_exact_modes(
    checkpoints: dict[str, Path], kind: str, cuts: tuple[int, ...]
) -> None:
    truth = logits_of(load_decoder(checkpoints[kind], load_kernels("c", "float32", 1), 256), tokens(200))
    exact = logits_of(load_decoder(checkpoints[kind], load_kernels("c", "bfloat16", 1), 256), tokens(200))
    native = logits_of(load_decoder(checkpoints[kind], NativeKernels(1), 256), tokens(200), cuts)
    theirs, ours = (((x - truth).norm(dim=1) / truth.norm(dim=1)).median() for x in (exact, native))
    assert ours < 5e-2 and ours < 1.5 * theirs


def delta_inputs(rows: int) -> tuple[torch.Tensor, ...]:
    g = torch.Generator().manual_seed(3)
    columns = 2 * SHAPE.key_heads * SHAPE.key_dim + SHAPE.value_heads * SHAPE.value_dim
    heads = SHAPE.value_heads
    qkv, b, a = (torch.randn(rows, n, generator=g).bfloat16() for n in (columns, heads, heads))
    return qkv, b, a, -torch.rand(heads, generator=g) - 0.1, torch.randn(heads, generator=g)


def expected(inputs: tuple[torch.Tensor, ...], rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    qkv, b, a, decay, bias = (x.double() for x in inputs)
    return reference.gated_delta(qkv[:rows], b[:rows], a[:rows], decay, bias, SHAPE)


@pytest.mark.parametrize("cuts", [(), (100,), (64, 65, 66, 130), (7, 199)], ids=str)
def test_the_delta_rule_agrees_with_its_definition_and_saves_the_state_at_every_boundary(cuts: tuple[int, ...]) -> None:
    kernels, inputs, rows = NativeKernels(1), delta_inputs(200), 200
    state = kernels.delta_state(SHAPE, 5, 1)
    out = []
    for start, end in itertools.pairwise((0, *cuts, rows)):
        writes = tuple(StateWrite(b, b // 64) for b in range(64, rows + 1, 64) if start < b <= end)
        segment = Segment(0, 0, start, tuple(range(end - start)), (1,), start // 64, writes)
        batch, _ = lay_out(PassPlan((segment,)))
        qkv, b, a, decay, bias = inputs
        out.append(kernels.gated_delta(batch, qkv[start:end], b[start:end], a[start:end], decay, bias, state))
    wanted, _ = expected(inputs, rows)
    assert torch.allclose(torch.cat(out).double(), wanted, atol=2e-2, rtol=2e-2)
    for boundary in (64, 128, 192):
        _, at = expected(inputs, boundary)
        assert torch.allclose(state.state[boundary // 64].double(), at, atol=2e-2, rtol=2e-2)


def test_a_save_inside_a_chunk_does_not_change_what_is_computed() -> None:
    kernels, inputs = NativeKernels(1), delta_inputs(100)
    outs = []
    for writes in ((), (StateWrite(64, 1),)):
        state = kernels.delta_state(SHAPE, 2, 1)
        state.rows["state"][0] = 0.5  # a lane in the middle of a block goes on from here
        batch, _ = lay_out(PassPlan((Segment(0, 0, 30, (0,) * 100, (1,), 0, writes),)))
        outs.append((kernels.gated_delta(batch, *inputs, state), state.rows["state"].clone()))
    assert torch.equal(outs[0][0], outs[1][0]) and torch.equal(outs[0][1], outs[1][1])


def test_a_segment_at_a_boundary_reads_its_slot_and_one_elsewhere_its_lane() -> None:
    kernels, inputs = NativeKernels(1), delta_inputs(10)
    results = {}
    for start, slot, lane in itertools.product((30, 64), (0.0, 1.0), (0.0, 1.0)):
        state = kernels.delta_state(SHAPE, 2, 1)
        state.state[1], state.rows["state"][0] = slot, lane
        batch, _ = lay_out(PassPlan((Segment(0, 0, start, (0,) * 10, (1, 2), 1),)))
        results[start, slot, lane] = kernels.gated_delta(batch, *inputs, state)
    assert torch.equal(results[30, 0.0, 1.0], results[30, 1.0, 1.0])
    assert not torch.equal(results[30, 0.0, 0.0], results[30, 0.0, 1.0])
    assert torch.equal(results[64, 1.0, 0.0], results[64, 1.0, 1.0])
    assert not torch.equal(results[64, 0.0, 0.0], results[64, 1.0, 0.0])


def test_a_replay_runs_token_by_token_to_the_match_only_when_the_switch_says_so() -> None:
    inputs, outs = delta_inputs(100), {}
    for kernel, replay in (("chunked", None), ("chunked", 50), ("sequential", None), ("sequential", 50)):
        kernels = NativeKernels(1, kernel)  # type: ignore[arg-type]
        state = kernels.delta_state(SHAPE, 1, 1)
        batch = replace(one_segment(0, 100), write_offsets=torch.zeros(2, dtype=torch.int32))
        batch = replace(batch, replays=None if replay is None else (Replay(0, replay, rewrites=True),))
        outs[kernel, replay] = kernels.gated_delta(batch, *inputs, state), state.rows["state"].clone()
    plain = outs["chunked", None]
    for key in (("chunked", 50), ("sequential", None)):
        assert torch.equal(outs[key][0], plain[0]) and torch.equal(outs[key][1], plain[1])
    assert not torch.equal(outs["sequential", 50][1], plain[1]), "another rounding"
    assert torch.allclose(outs["sequential", 50][1], plain[1], atol=2e-2)


def test_decode_keeps_its_state_in_float32() -> None:
    kernels, inputs = NativeKernels(1), delta_inputs(70)
    state = kernels.delta_state(SHAPE, 2, 1)
    for t in range(70):
        writes = (StateWrite(64, 1),) if t == 63 else ()
        batch, _ = lay_out(PassPlan((Segment(0, 0, t, (0,), (1, 2), t // 64, writes),)))
        qkv, b, a, decay, bias = inputs
        kernels.gated_delta(batch, qkv[t : t + 1], b[t : t + 1], a[t : t + 1], decay, bias, state)
    assert torch.allclose(state.state[1].double(), expected(inputs, 64)[1], atol=1e-6)
    assert torch.allclose(state.rows["state"][0].double(), expected(inputs, 70)[1], atol=1e-6)


@pytest.mark.parametrize(("replay", "written"), [(None, (0, 100)), (Replay(0, 70, True), (0, 100))])
def test_keys_and_values_are_written(replay: Replay | None, written: tuple[int, int]) -> None:
    assert written_rows(replay) == list(range(*written))


def test_a_replay_that_reuses_leaves_what_is_there() -> None:
    assert written_rows(Replay(0, 70, rewrites=False)) == list(range(70, 100))
    assert written_rows(Replay(0, 200, rewrites=False)) == []


def written_rows(replay: Replay | None) -> list[int]:
    kernels = NativeKernels(1)
    store = kernels.kv_store(KVShape(2, 8), 2)
    store.k.fill_(7)
    store.v.fill_(7)
    batch = replace(one_segment(0, 100), replays=None if replay is None else (replay,))
    rows = torch.zeros(100, 16, dtype=torch.bfloat16)
    kernels.write_kv(batch, rows, rows, store)
    both = torch.stack([store.k, store.v]).reshape(2, 128, 16)
    assert torch.equal(both[0], both[1])
    return torch.nonzero((both[0] == 0).all(dim=1))[:, 0].tolist()


def test_exact_kernels_do_not_look_at_replays(checkpoints: dict[str, Path]) -> None:
    kernels, inputs = load_kernels("c", "bfloat16", 1), delta_inputs(100)
    outs = []
    for replays in (None, (Replay(0, 50, rewrites=False),)):
        batch = replace(one_segment(0, 100), replays=replays)
        outs.append(kernels.gated_delta(batch, *inputs, kernels.delta_state(SHAPE, 2, 1)))
    assert torch.equal(*outs)
