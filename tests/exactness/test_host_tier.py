"""Snapshots and blocks that were evicted to the host's memory, and come back: every bit as it was, on every kind of model."""

from dataclasses import replace

import pytest
from checks import what_was_evicted_comes_back_from_the_host
from harness import GREEDY, ON_GPU, Setup, alone, assert_published_is_exact, drive, request, tokens

from isotherm.core.config import SpeculativeConfig
from isotherm.fuzz.compare import judge
from isotherm.fuzz.draw import draw
from isotherm.fuzz.models import open_kind
from isotherm.fuzz.subject import Subject
from isotherm.model.tiny import write_tiny

KINDS = ("qwen3_5", "qwen3_next", "qwen3_5_moe", "qwen4_exp", "qwen3_5-fp8")
SHORT = replace(GREEDY, max_tokens=6)
HOST = 64 << 20


@pytest.fixture
def setup(checkpoints) -> Setup:
    return Setup(checkpoints["qwen3_next"], "c", "bfloat16")


@pytest.mark.parametrize(
    ("kind", "kernels"),
    [*((kind, "c") for kind in KINDS), ("qwen3_5", "torch"), ("qwen3_next", "torch"), ("qwen4_exp", "torch")],
)
def test_fault_15_what_comes_back_from_the_host_has_every_bit(checkpoints, kind: str, kernels: str) -> None:
    what_was_evicted_comes_back_from_the_host(Setup(checkpoints[kind], kernels, "bfloat16"))


@pytest.mark.parametrize("drafts", [1, 3])
def test_the_drafters_entries_and_row_come_back_too(tmp_path, drafts: int) -> None:
    shape = {"linear_value_head_dim": 32} if ON_GPU else {}
    write_tiny("qwen3_next", tmp_path, seed=1, drafter=True, vocab_size=512, eos_token_id=511, **shape)
    setup = Setup(tmp_path, "c", "bfloat16")
    guessing = SpeculativeConfig("mtp", drafts)
    engine = setup.engine(seqs=1, slots=4, blocks=18, max_model_len=1024, offload_bytes=HOST, speculative=guessing)
    item = request(tokens(300, 1))
    cold = drive(engine, [item])["r"]
    for other in range(3):
        drive(engine, [request(tokens(700, 60 + other))])
    warm = drive(engine, [item])["r"]
    assert (cold.cached, warm.cached, engine.stats().host.hits) == (0, 256, 1)
    assert cold.compared == warm.compared == alone(setup, item).compared
    assert "mtp.hidden" in engine.runner.state.by_slot()
    assert assert_published_is_exact(engine) > 0


@pytest.mark.skipif(ON_GPU, reason="scripts/test-gpu fuzz: isotherm fuzz --device cuda")
@pytest.mark.parametrize("kind", ["qwen3_5", "qwen4_exp"])
def test_fault_15_any_schedule_over_any_host_pool_is_exact(kind: str) -> None:
    """Freed memory of both tiers is NaN, and the invariants of both are checked at every step."""
    model = open_kind(kind, "auto", "auto")
    scripts = [draw(number, model.longest, model.decoder.spec.vocab_size) for number in range(9)]
    scripts = [script for script in scripts if script.setting.host_slots]
    assert len(scripts) >= 3
    assert [judge(model, script).failures for script in scripts] == [()] * len(scripts)


@pytest.mark.skipif(ON_GPU, reason="policy only")
def test_a_pool_that_is_drawn_is_used() -> None:
    """Among what is drawn are copies out and back, and snapshots for which there was no room."""
    model, moved = open_kind("qwen3_5", "auto", "auto"), [0, 0, 0]
    for number in range(12):
        script = draw(number, model.longest, model.decoder.spec.vocab_size)
        if script.setting.host_slots:
            subject = Subject(model, replace(script.setting, slots=3, spare_blocks=1, snapshot_interval=64))
            for turn in range(2):
                for n in range(4):
                    subject.add(request(tokens(150 + 64 * n, n), f"{turn} {n}", SHORT))
                    while subject.has_work:
                        subject.step()
            host = subject.scheduler.stats().host
            found = (host.offloaded_snapshots, host.reloaded_snapshots, host.lost_snapshots)
            moved = [a + b for a, b in zip(moved, found, strict=True)]
            assert not subject.audit.wrong
    assert all(moved)


def test_fault_15_a_preempted_request_comes_back_from_the_host(setup: Setup) -> None:
    items = [request(tokens(100 + i, 90 + i), f"r{i}", replace(GREEDY, max_tokens=120)) for i in range(3)]
    small = setup.engine(blocks=8, slots=4, seqs=3, max_model_len=512, offload_bytes=HOST)
    answers = drive(small, items)
    assert small.stats().preemptions > 0 and small.stats().host.reloaded_snapshots > 0
    for item in items:
        assert answers[item.id].compared == alone(setup, item).compared
    assert assert_published_is_exact(small) > 0


def test_choices_of_one_prompt_bring_it_back_once(setup: Setup) -> None:
    engine = setup.engine(seqs=4, slots=6, blocks=24, max_model_len=1024, offload_bytes=HOST)
    drive(engine, [request(tokens(400, 1), params=SHORT)])
    drive(engine, [request(tokens(900, 2), "o", SHORT)])
    drive(engine, [request(tokens(900, 3), "p", SHORT)])
    again = [request((*tokens(400, 1), n), f"c{n}", SHORT) for n in range(4)]
    answers = drive(engine, again)
    stats = engine.stats().host
    assert (stats.hits, stats.reloaded_snapshots, stats.reloaded_blocks) == (1, 1, 6)
    for item in again:
        assert answers[item.id].cached == 384
        assert answers[item.id].compared == alone(setup, item).compared


def test_without_a_host_tier_what_is_evicted_is_gone(setup: Setup) -> None:
    engine = setup.engine(seqs=2, slots=5, blocks=20, max_model_len=1024)
    drive(engine, [request(tokens(400, 1), params=SHORT)])
    for other in range(3):
        drive(engine, [request(tokens(900, 2 + other), "o", SHORT)])
    assert drive(engine, [request(tokens(400, 1), params=SHORT)])["r"].cached == 0
    assert engine.runner.host is None and engine.stats().host.offloaded_blocks == 0
