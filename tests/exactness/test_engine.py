"""The engine against each request alone on a fresh engine with caching off: equal bits, whatever else happens."""

import random
from dataclasses import replace

import pytest
from harness import (
    EOS,
    GREEDY,
    Answer,
    Setup,
    alone,
    assert_published_is_exact,
    collect,
    drive,
    request,
    tokens,
)

from isotherm.core.constants import block_floor
from isotherm.core.sampling import SamplingParams

KINDS = ("qwen3_5", "qwen3_next", "qwen3_5_moe", "qwen4_exp")


@pytest.fixture(
    params=[
        ("qwen3_5", "c", "bfloat16"),
        ("qwen3_5", "c", "float32"),
        ("qwen3_next", "c", "bfloat16"),
        ("qwen3_5_moe", "c", "bfloat16"),
        ("qwen4_exp", "c", "bfloat16"),
    ],
    ids="-".join,
)
def setup(request, checkpoints) -> Setup:
    kind, kernels, dtype = request.param
    return Setup(checkpoints[kind], kernels, dtype)


@pytest.fixture(
    params=[("qwen3_5", "c"), ("qwen3_next", "c"), ("qwen3_5_moe", "c"), ("qwen3_5", "torch"), ("qwen3_next", "torch")],
    ids="-".join,
)
def any_setup(request, checkpoints) -> Setup:
    """Both providers; the torch form is slow, so only the heart of the contract runs on it."""
    kind, kernels = request.param
    return Setup(checkpoints[kind], kernels, "bfloat16")


@pytest.fixture
def fast(checkpoints) -> Setup:
    """One build, for tests of policies that no kernel sees."""
    return Setup(checkpoints["qwen3_next"], "c", "bfloat16")


def test_a_warm_answer_equals_a_cold_one(any_setup: Setup) -> None:
    item = request(tokens(200, 1))
    engine = any_setup.engine()
    cold = drive(engine, [item])["r"]
    warm = drive(engine, [item])["r"]
    assert (cold.cached, warm.cached) == (0, 192)
    assert cold.compared == warm.compared == alone(any_setup, item).compared


def test_a_second_turn_hits_through_generated_tokens(setup: Setup) -> None:
    params = replace(GREEDY, max_tokens=90)
    engine = setup.engine()
    first = drive(engine, [request(tokens(100, 2), params=params)])["r"]
    history = (*tokens(100, 2), *first.tokens, *tokens(30, 3))
    second = drive(engine, [request(history)])["r"]
    assert second.cached == block_floor(100 + 90 - 1) == 128
    assert second.compared == alone(setup, request(history)).compared
    assert assert_published_is_exact(engine) > 0


def test_eight_at_once_equal_eight_alone_in_any_arrival_order(setup: Setup) -> None:
    lengths = (1, 63, 64, 65, 100, 130, 200, 33)
    items = [request(tokens(n, n), name=f"r{n}") for n in lengths]
    expected = {item.id: alone(setup, item).compared for item in items}
    for order in (items, items[::-1]):
        answers = drive(setup.engine(), order)
        assert {name: answer.compared for name, answer in answers.items()} == expected


@pytest.mark.parametrize("budget", [16, 50, 64, 500])
def test_the_token_budget_changes_nothing(fast: Setup, budget: int) -> None:
    items = [request((*tokens(150, 7), *tokens(40 + 9 * i, i)), name=f"r{i}") for i in range(5)]
    engine = fast.engine(budget=budget)
    answers = drive(engine, items)
    for item in items:
        assert answers[item.id].compared == alone(fast, item).compared
    assert assert_published_is_exact(engine) > 0


def test_preemption_with_a_tiny_pool_changes_nothing(setup: Setup) -> None:
    items = [request(tokens(90 + i, 20 + i), name=f"r{i}", params=replace(GREEDY, max_tokens=60)) for i in range(4)]
    engine = setup.engine(blocks=9, slots=10, seqs=4, max_model_len=512)
    answers = drive(engine, items)
    assert engine.stats().preemptions > 0
    for item in items:
        assert answers[item.id].compared == alone(setup, item, max_model_len=512).compared
    assert assert_published_is_exact(engine) > 0


def test_a_cancelled_neighbour_changes_nothing_at_any_pass(fast: Setup) -> None:
    kept, dropped = request(tokens(140, 5), name="kept"), request(tokens(300, 6), name="dropped")
    expected = alone(fast, kept).compared
    retry = alone(fast, dropped).compared
    for steps in range(12):
        engine = fast.engine(budget=32)
        engine.add(dropped)
        engine.add(kept)
        answers: dict[str, Answer] = {}
        collect(engine, answers, steps)
        engine.cancel("dropped")
        collect(engine, answers)
        assert answers["kept"].compared == expected
        assert answers["dropped"].finish in ("abort", "length")
        again = drive(engine, [replace(dropped, id="again")])["again"]
        assert again.compared == retry
        assert_published_is_exact(engine)


def test_the_number_of_threads_changes_nothing(fast: Setup) -> None:
    item = request(tokens(150, 9))
    expected = alone(fast, item).compared
    for threads in (1, 2, 3, 8):
        assert drive(fast.engine(threads=threads), [item])["r"].compared == expected


def test_fault_21_choices_of_one_seed_differ_and_repeat_under_any_load(setup: Setup) -> None:
    params = SamplingParams(temperature=1.2, top_p=0.9, top_k=40, max_tokens=20, logprobs=5, ignore_eos=True)
    items = [request(tokens(70, 3), name=f"c{i}", params=params, seed=11, choice=i) for i in range(8)]
    together = drive(setup.engine(), items)
    texts = {tuple(answer.tokens) for answer in together.values()}
    assert len(texts) == 8, "choices of one seed must differ"
    for item in items[::3]:
        assert together[item.id].compared == alone(setup, item).compared


def test_a_neighbour_with_penalties_and_log_probabilities_changes_nothing(setup: Setup) -> None:
    plain = request(tokens(80, 4), name="plain")
    noisy = SamplingParams(
        temperature=0.8, top_p=0.5, seed=3, presence_penalty=1.0, frequency_penalty=0.5, repetition_penalty=1.3,
        max_tokens=24, logprobs=20, ignore_eos=True,
    )  # fmt: skip
    others = [request(tokens(64 + i, 30 + i), name=f"n{i}", params=noisy, cache_salt="other") for i in range(3)]
    answers = drive(setup.engine(), [*others, plain])
    assert answers["plain"].compared == alone(setup, plain).compared
    assert answers["n1"].compared == alone(setup, others[1]).compared


def test_fault_30_scoring_a_generated_sequence_gives_the_bits_it_was_sampled_with(any_setup: Setup) -> None:
    prompt = tokens(90, 8)
    sampled = drive(any_setup.engine(), [request(prompt)])["r"]
    params = SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=20)
    scored = drive(any_setup.engine(), [request((*prompt, *sampled.tokens), params=params)])["r"]
    assert scored.prompt_bits[len(prompt) - 1 :] == sampled.bits


def test_random_schedules_of_shared_prefixes_equal_each_request_alone(fast: Setup) -> None:
    rng = random.Random(5)
    stem = tokens(400, 40)
    items = [request((*stem[: rng.randrange(400)], *tokens(rng.randrange(1, 90), i)), name=f"r{i}") for i in range(24)]
    engine = fast.engine(budget=96, seqs=6, blocks=40, slots=16, snapshot_interval=128, max_model_len=1024)
    answers: dict[str, Answer] = {}
    for item in items:
        engine.add(item)
        collect(engine, answers, rng.randrange(6))
    collect(engine, answers)
    assert any(answer.cached for answer in answers.values())
    for item in items:
        assert answers[item.id].compared == alone(fast, item, max_model_len=1024).compared, item.id
    assert assert_published_is_exact(engine) > 0


def test_stopping_at_eos_is_the_same_warm_and_cold(fast: Setup) -> None:
    params = SamplingParams(temperature=1.5, max_tokens=200, logprobs=0, logit_bias=((EOS, 4.0),))
    item = request(tokens(130, 12), params=params, seed=4)
    engine = fast.engine()
    cold, warm = drive(engine, [item])["r"], drive(engine, [item])["r"]
    assert cold.finish == "stop"
    assert cold.compared == warm.compared == alone(fast, item).compared
