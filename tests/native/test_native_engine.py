"""The published pattern on tiny random models: what must be equal is, and what was found to differ does."""

from pathlib import Path

import pytest
from native_engine import Bits, ask, ask_together, conversation, engine, words

from isotherm.core.config import EngineConfig, ModelConfig, SpeculativeConfig
from isotherm.core.errors import ConfigError
from isotherm.core.numerics import NativeConfig
from isotherm.core.plan import PassPlan, PassResult
from isotherm.engine.native_runner import NativeRunner

KINDS = ("qwen3_5", "qwen3_next", "qwen3_5_moe")
A1 = NativeConfig(restore="never")
A2 = NativeConfig(restore="never", tail_split=True)
A3 = NativeConfig(tail_split=True, restore="below", kv="reuse", match_unit=1, replay="sequential")
A4 = NativeConfig(tail_split=True, restore="below", kv="reuse", replay="sequential")
GRID = NativeConfig(restore="below", grid=128, fine_grid=64)


@pytest.fixture(scope="module")
def off(checkpoints: dict[str, Path]) -> dict[str, list[Bits]]:
    """Native, caching off, by kind."""
    return {kind: conversation(engine(checkpoints[kind], caching=False)) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_server_again_and_one_that_never_restores_give_the_same_bits(checkpoints, off, kind: str) -> None:
    assert conversation(engine(checkpoints[kind], caching=False)) == off[kind]
    on = engine(checkpoints[kind], A1)
    assert conversation(on) == off[kind]
    assert on.stats().declined == {"no_match": 1, "not_restored": 2}


@pytest.mark.parametrize("native", [A2, A3, A4], ids=["A2", "A3", "A4"])
def test_the_historical_layouts_change_bits(checkpoints, native: NativeConfig) -> None:
    """A few bits of a small model's logits survive their rounding, so several prompts are asked."""
    cold, on = engine(checkpoints["qwen3_5"], caching=False), engine(checkpoints["qwen3_5"], native)
    prompts = [(*words(200), *words(70 + 9 * seed, seed)) for seed in range(1, 7)]
    assert [ask(on, prompt, hint=200) for prompt in prompts] != [ask(cold, prompt) for prompt in prompts]
    assert on.stats().restored == (0 if native == A2 else 5)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_restores_below_the_match(checkpoints, off, kind: str) -> None:
    on = engine(checkpoints[kind], A3)
    conversation(on, off[kind][0])
    assert on.stats().restored == 2


@pytest.mark.parametrize(
    "native", [GRID, NativeConfig(grid=128), NativeConfig(grid=64), NativeConfig(grid=192, fine_grid=64)]
)
def test_a_grid_with_rewritten_keys_and_the_cold_kernel_equals_its_own_off_one_at_a_time(checkpoints, native) -> None:
    cold, warm = (engine(checkpoints["qwen3_5"], native, caching=caching) for caching in (False, True))
    answers = conversation(cold)
    assert conversation(warm, answers[0]) == answers
    for seed, length in enumerate((300, 129, 510, 256, 128, 500, 200, 390)):
        prompt = (*words(200), *words(75, 1), *words(500, seed % 2 + 4))[:length]
        assert ask(warm, prompt) == ask(cold, prompt), length
    assert warm.stats().restored >= 5


def test_a_sequential_replay_on_the_grid_does_not(checkpoints) -> None:
    native = NativeConfig(restore="below", replay="sequential", grid=128, fine_grid=64)
    cold, warm = (engine(checkpoints["qwen3_5"], native, caching=caching) for caching in (False, True))
    answers = conversation(cold)
    assert conversation(warm, answers[0]) != answers


def test_several_at_once_are_computed_by_other_passes_and_end(checkpoints) -> None:
    prompts = [(*words(200), *words(60, seed)) for seed in range(5)]
    for native in (A3, GRID, NativeConfig()):
        made = engine(checkpoints["qwen3_5_moe"], native)
        ask(made, prompts[0])
        assert [len(tokens) for tokens, _ in ask_together(made, prompts)] == [12] * 5


def test_restored_states_are_compared_with_what_was_saved(checkpoints, off) -> None:
    made = engine(checkpoints["qwen3_5"], A3)
    conversation(made, off["qwen3_5"][0])
    stats = made.stats()
    assert (stats.states_restored_equal, stats.states_restored) == (2, 2)
    assert isinstance(made.runner, NativeRunner)
    for tensor in made.runner.state.by_slot().values():
        tensor[1:] = 0
    ask(made, (*words(200), *words(60, 9)), hint=200)
    stats = made.stats()
    assert (stats.states_restored_equal, stats.states_restored) == (2, 3)


def test_the_build_and_the_info_say_the_numerics(checkpoints) -> None:
    exact, native = engine(checkpoints["qwen3_5"], None), engine(checkpoints["qwen3_5"])
    assert (exact.info.numerics, native.info.numerics) == ("exact", "native")
    assert (exact.info.build["numerics"], native.info.build["numerics"]) == ("exact", "native")
    assert native.info.build["dtype"] == "bfloat16" and native.info.build["id"] != exact.info.build["id"]
    assert engine(checkpoints["qwen3_5"], A3).info.build == native.info.build, "a layout is not part of a build"


def test_exact_plans_have_neither_replays_nor_copies(checkpoints, monkeypatch) -> None:
    made, plans = engine(checkpoints["qwen3_5"], None), []
    run = made.runner.run

    def watched(plan: PassPlan, **named: object) -> PassResult:
        plans.append(plan)
        return run(plan, **named)

    monkeypatch.setattr(made.runner, "run", watched)
    conversation(made)
    assert made.stats().restored == 2 and made.stats().states_restored == 0
    assert not any(plan.copies or segment.replay for plan in plans for segment in plan.segments)
    prefills = [(s.start, s.end) for plan in plans for s in plan.segments if s.end - s.start > 1]
    assert prefills == [(0, 275), (192, 320), (256, 327)]


@pytest.mark.parametrize(
    ("native", "name"),
    [
        (NativeConfig(tail_split=True), "native_tail_split"),
        (NativeConfig(restore="below"), "native_restore"),
        (NativeConfig(kv="reuse"), "native_kv"),
        (NativeConfig(kv="reuse", match_unit=1), "native_kv"),
        (NativeConfig(replay="sequential"), "native_replay"),
        (NativeConfig(grid=64), "native_grid"),
    ],
)
def test_exact_mode_refuses_native_switches_by_name(native: NativeConfig, name: str) -> None:
    with pytest.raises(ConfigError) as refused:
        EngineConfig(native=native)
    assert refused.value.field == name


@pytest.mark.parametrize(
    ("switches", "name"),
    [
        ({"restore": "sometimes"}, "native_restore"),
        ({"kv": "maybe"}, "native_kv"),
        ({"replay": "fast"}, "native_replay"),
        ({"match_unit": 16, "kv": "reuse"}, "native_match_unit"),
        ({"match_unit": 1}, "native_match_unit"),
        ({"drafter_anchor_bytes": 1 << 20}, "native_drafter_anchor_bytes"),
        ({"drafter_anchor": True, "drafter_anchor_bytes": 0}, "native_drafter_anchor_bytes"),
        ({"grid": 100}, "native_grid"),
        ({"grid": -64}, "native_grid"),
        ({"fine_grid": 64}, "native_fine_grid"),
        ({"grid": 128, "fine_grid": 192}, "native_fine_grid"),
        ({"grid": 128, "tail_split": True}, "native_tail_split"),
    ],
)
def test_switches_that_cannot_be_honoured_are_refused_by_name(switches: dict[str, object], name: str) -> None:
    with pytest.raises(ConfigError) as refused:
        NativeConfig(**switches)  # type: ignore[arg-type]
    assert refused.value.field == name


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"model": ModelConfig(dtype="float32")}, "dtype"),
        ({"model": ModelConfig(kernels="c")}, "kernels"),
        ({"native": NativeConfig(grid=2048)}, "max_num_batched_tokens"),
        ({"native": NativeConfig(drafter_anchor=True)}, "native_drafter_anchor"),
        (
            {"native": NativeConfig(drafter_anchor=True), "speculative": SpeculativeConfig("ngram", 3)},
            "native_drafter_anchor",
        ),
    ],
)
def test_native_numerics_refuse_what_they_do_not_have(fields: dict[str, object], name: str) -> None:
    with pytest.raises(ConfigError) as refused:
        EngineConfig(numerics="native", **fields)  # type: ignore[arg-type]
    assert refused.value.field == name
