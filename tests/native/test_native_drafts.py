"""Drafts in native numerics: rejected ones leave nothing, and a drafter has of a restored prefix what the anchor kept."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from native_engine import Bits, ask, conversation, engine, words

from isotherm.core.config import SpeculativeConfig
from isotherm.core.numerics import NativeConfig
from isotherm.core.plan import PassPlan, Replay, Segment, StateWrite
from isotherm.engine.engine import Engine
from isotherm.engine.native_runner import NativeRunner
from isotherm.kernels.batch import Batch
from isotherm.kernels.state import ConvShape, DeltaShape, KVShape
from isotherm.model.load import load_decoder
from isotherm.model.mtp import load_mtp
from isotherm.native.attention import attention_from
from isotherm.native.drafter import DrafterContext
from isotherm.native.hidden_rows import HiddenRows
from isotherm.native.kernels import NativeKernels
from isotherm.runner.layout import lay_out

K = 3
MTP = SpeculativeConfig("mtp", K)
GRID = NativeConfig(restore="below", grid=128, fine_grid=64)
DELTA = DeltaShape(key_heads=2, value_heads=4, key_dim=16, value_dim=24)
CONV = ConvShape(12, 4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from isotherm.model.tiny import write_tiny

    return write_tiny(
        "qwen3_5", tmp_path_factory.mktemp("drafter"), seed=1, drafter=True, vocab_size=512, eos_token_id=511
    ).folder


# what a verify leaves

Step = tuple[int, int, int]
"""First position, tokens, and how many of them are drafts."""


def delta(steps: list[Step]) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Outputs of the steps, and the state that they saved at 64. A row's inputs follow from its position."""
    g = torch.Generator().manual_seed(3)
    columns, heads = 2 * DELTA.key_heads * DELTA.key_dim + DELTA.value_heads * DELTA.value_dim, DELTA.value_heads
    qkv, b, a = (torch.randn(200, n, generator=g).bfloat16() for n in (columns, heads, heads))
    decay, bias = -torch.rand(heads, generator=g) - 0.1, torch.randn(heads, generator=g)
    kernels = NativeKernels(1, drafts=K)
    state = kernels.delta_state(DELTA, 3, 1)
    state.rows["state"].fill_(float("nan"))

    def run(batch: Batch, rows: slice) -> torch.Tensor:
        return kernels.gated_delta(batch, qkv[rows], b[rows], a[rows], decay, bias, state)

    return carried_out(run, steps), state.state[1]


def convolution(steps: list[Step]) -> tuple[list[torch.Tensor], torch.Tensor]:
    """The same of the convolution."""
    g = torch.Generator().manual_seed(4)
    x, weight = torch.randn(200, CONV.channels, generator=g).bfloat16(), torch.randn(CONV.channels, 4, generator=g)
    kernels = NativeKernels(1, drafts=K)
    state = kernels.conv_state(CONV, 3, 1)
    state.rows.fill_(float("nan"))
    return carried_out(lambda batch, rows: kernels.causal_conv(batch, x[rows], weight, state), steps), state.history[1]


def carried_out(run: Callable[[Batch, slice], torch.Tensor], steps: list[Step]) -> list[torch.Tensor]:
    outs = []
    for start, count, drafts in steps:
        writes = (StateWrite(64, 1),) if start < 64 <= start + count else ()
        slot = 1 if start >= 64 else 0
        segment = Segment(0, 0, start, (0,) * count, (1, 2), slot, writes, drafts=drafts)
        batch, _ = lay_out(PassPlan((segment,)))
        outs.append(run(batch, slice(start, start + count)))
    return outs


@pytest.mark.parametrize("operation", [delta, convolution])
@pytest.mark.parametrize("start", [40, 60, 63, 70])
@pytest.mark.parametrize("stay", [1, 2, 4])
def test_what_follows_a_verify_goes_on_from_the_drafts_that_stay(operation, start: int, stay: int) -> None:
    """Bit for bit as if these had been decoded one by one, and the others never computed."""
    end = min(start + 1 + K, 64) if start < 63 else start + 1 + K
    stay = min(stay, end - start)
    prefill = [(0, 40, 0), *((t, 1, 0) for t in range(40, start))]
    rest = [(t, 1, 0) for t in range(start + stay, start + stay + 6)]
    verified, saved = operation([*prefill, (start, end - start, end - start - 1), *rest])
    decoded, expected = operation([*prefill, *((t, 1, 0) for t in range(start, start + stay)), *rest])
    n = len(prefill)
    assert torch.equal(verified[n][:stay], torch.cat(decoded[n : n + stay]))
    assert torch.equal(torch.cat(verified[n + 1 :]), torch.cat(decoded[n + stay :]))
    if start + stay + 6 > 64:
        assert torch.equal(saved, expected)


# the drafter's context


@pytest.mark.parametrize(("start", "end", "first"), [(0, 30, 1), (63, 70, 64), (70, 80, 65), (5, 6, 1)])
def test_a_row_attends_from_its_lanes_first_entry_and_to_itself(start: int, end: int, first: int) -> None:
    torch.manual_seed(0)
    kernels = NativeKernels(1)
    store = kernels.kv_store(KVShape(1, 16), 3)
    store.k.normal_()
    store.v.normal_()
    q = torch.randn(end - start, 32).bfloat16()
    batch, _ = lay_out(PassPlan((Segment(0, 0, start, (0,) * (end - start), (1, 2), 0),)))
    out = attention_from(batch, q, store, 0.25, [first]).float().reshape(-1, 2, 16)
    keys, values = (kept[[1, 2]].reshape(128, 16).float() for kept in (store.k, store.v))
    for row in range(end - start):
        position = start + row
        seen = list(range(first, position + 1)) or [position]
        scores = q[row].reshape(2, 16).float() @ keys[seen].T * 0.25
        assert torch.allclose(out[row], scores.softmax(dim=1) @ values[seen], atol=2e-2)


def follow(context: DrafterContext, segment: Segment, rows: torch.Tensor) -> None:
    batch, tokens = lay_out(PassPlan((segment,)))
    context.follow(batch, tokens, rows[segment.start : segment.end])


def entries(context: DrafterContext, lane: int, end: int) -> torch.Tensor:
    """Keys and values of a lane's positions 1.., [2, end-1, H, D]."""
    (segment,) = context.placed(PassPlan((Segment(0, lane, end - 1, (0,), (), 0),))).segments
    both = torch.stack((context.store.k, context.store.v))
    return both[:, list(segment.blocks)].flatten(1, 2)[:, 1:end]


@pytest.mark.parametrize("anchored", [True, False])
def test_a_restored_sequence_has_all_entries_with_the_anchor_and_those_after_it_without(
    folder: Path, anchored: bool
) -> None:
    decoder = load_decoder(folder, NativeKernels(1, drafts=K), 512)
    anchor = HiddenRows(1 << 20) if anchored else None
    context = DrafterContext(load_mtp(folder, decoder), decoder.spec.kv, 1, K, anchor)
    tokens, rows = words(200), torch.randn(200, 64).bfloat16()
    for start, end in ((0, 128), (128, 150)):
        writes = (StateWrite(128, 5),) if end == 128 else ()
        follow(context, Segment(0, 0, start, tokens[start:end], (), 0, writes), rows)
    for start, end in ((128, 150), (150, 160)):
        replay = Replay(128, 140, rewrites=True) if start == 128 else None
        follow(context, Segment(1, 1, start, tokens[start:end], (), 5, replay=replay), rows)
    cold, warm = entries(context, 0, 150), entries(context, 1, 150)
    assert torch.equal(warm[:, 128:], cold[:, 128:]), "from the second row after the snapshot on"
    assert torch.equal(warm, cold) == anchored
    assert torch.equal(warm[:, 127], cold[:, 127]) == anchored, "the first one needs the row before the snapshot"


def test_rejected_rows_are_not_what_the_next_ones_are_built_on(folder: Path) -> None:
    decoder = load_decoder(folder, NativeKernels(1, drafts=K), 512)
    contexts = [DrafterContext(load_mtp(folder, decoder), decoder.spec.kv, 1, K, None) for _ in range(2)]
    tokens, rows = words(100), torch.randn(100, 64).bfloat16()
    for context, second in zip(contexts, (34, 31), strict=True):
        follow(context, Segment(0, 0, 0, tokens[:30], (), 0), rows)
        follow(context, Segment(0, 0, 30, tokens[30:second], (), 0, drafts=second - 31), rows)
        follow(context, Segment(0, 0, 31, tokens[31:32], (), 0), rows)
    assert torch.allclose(entries(contexts[0], 0, 32), entries(contexts[1], 0, 32), atol=1e-2)


# in an engine


def scripted(made: Engine, coming: dict[int, tuple[int, ...]]) -> Engine:
    """Its drafter knows what is coming, and every fifth token it says something else. coming: by request number."""
    assert isinstance(made.runner, NativeRunner)
    real = made.runner._ahead.propose

    def propose(plan, results, *more):
        out = []
        for segment, drafts, found in zip(plan.segments, real(plan, results, *more), results, strict=True):
            known = coming[segment.sequence]
            at = segment.end - segment.drafts + segment.accepted(found) + 1  # of the first token to guess
            right = [known[t] if t < len(known) else 0 for t in range(at, at + len(drafts))]
            out.append(tuple((token + (t % 5 == 0)) % 511 for t, token in enumerate(right, at)))
        return tuple(out)

    made.runner._ahead.propose = propose
    return made


PROMPTS = ((*words(200), *words(75, 1)), (*words(200), *words(120, 2)), (*words(200), *words(60, 1)))


def played(
    folder: Path, native: NativeConfig, coming: dict[int, tuple[int, ...]], caching: bool
) -> tuple[Engine, list[Bits]]:
    made = scripted(engine(folder, native, caching=caching, speculative=MTP), coming)
    return made, [ask(made, prompt, hint=200) for prompt in PROMPTS]


def test_on_a_grid_with_the_anchor_drafts_that_are_right_and_wrong_end_as_with_caching_off(folder: Path) -> None:
    """The drafts do not come from the context here, so what is tested is all the rest of it."""
    plain = engine(folder, GRID, caching=False)
    coming = {i: (*prompt, *ask(plain, prompt)[0]) for i, prompt in enumerate(PROMPTS)}
    cold, off = played(folder, GRID, coming, caching=False)
    warm, on = played(folder, replace(GRID, drafter_anchor=True), coming, caching=True)
    assert on == off
    accepted = cold.stats().accepted_by_position
    assert warm.stats().restored == 2 and warm.stats().accepted_by_position == accepted
    assert accepted[-1] > 0 and cold.stats().drafted_tokens > sum(accepted), "some of each"


def test_a_snapshot_without_rows_is_not_restored(folder: Path) -> None:
    small = NativeConfig(drafter_anchor=True, drafter_anchor_bytes=1000)
    for native, declined in (
        (replace(small, drafter_anchor_bytes=1 << 20), {"no_match": 1}),
        (small, {"no_match": 1, "no_anchor": 2}),
    ):
        made = engine(folder, native, speculative=MTP)
        conversation(made)
        assert made.stats().declined == declined
        assert isinstance(made.runner, NativeRunner) and made.runner.anchor is not None
        assert made.runner.anchor.bytes <= native.drafter_anchor_bytes


def test_rows_go_with_their_snapshots(folder: Path) -> None:
    made = engine(folder, NativeConfig(drafter_anchor=True), speculative=MTP)
    conversation(made)
    assert isinstance(made.runner, NativeRunner) and made.runner.anchor is not None
    kept = {slot for slot in range(1, 200) if made.runner.anchor.has(slot)}
    assert kept == {slot for _, _, slot in made.cache.published() if slot}


def test_the_drafters_rows_are_in_no_block_and_no_slot_of_the_model(folder: Path) -> None:
    state = engine(folder, speculative=MTP).runner.state
    assert not [name for name in (*state.by_block(), *state.by_slot()) if "mtp" in name]


def test_guesses_from_the_prompt_need_no_drafter(checkpoints: dict[str, Path]) -> None:
    made = engine(checkpoints["qwen3_5"], speculative=SpeculativeConfig("ngram", K))
    again = (*words(100), *words(100))
    assert len(ask(made, again)[0]) == 12
    assert made.stats().drafts >= 0 and made.runner.drafter is None
