"""Kinds of fault seen in public engines, by their number in the catalogue, on the whole engine.

Each is equality with the same request alone on a fresh engine with caching off. Kinds that concern the cache's bookkeeping,
the kernels, text or HTTP alone are named in those rooms' tests: docs/mutations.md has the list.
"""

from dataclasses import replace
from typing import cast

import pytest
import torch
from harness import (
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
from isotherm.fuzz.states import poison
from isotherm.kernels.api import Kernels, Linear

ONE = SamplingParams(temperature=0.0, max_tokens=1, logprobs=20, ignore_eos=True)
SHORT = replace(GREEDY, max_tokens=6)


@pytest.fixture(params=[("qwen3_5", "float32"), ("qwen3_next", "bfloat16")], ids="-".join)
def setup(request, checkpoints) -> Setup:
    kind, dtype = request.param
    return Setup(checkpoints[kind], "c", dtype)


def test_fault_1_a_shared_prefix_hits_from_the_second_request_on(setup: Setup) -> None:
    """The hint is the end of the shared part, as the text room gives it."""
    stem = tokens(300, 1)
    engine = setup.engine()
    for i in range(5):
        item = request((*stem, *tokens(20, 100 + i)), params=SHORT, hint=300)
        answer = drive(engine, [item])["r"]
        assert answer.cached == (0 if i == 0 else 256)
        assert answer.compared == alone(setup, item).compared


@pytest.mark.parametrize("grain", [16, 64, 128, 192])
@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_fault_3_lengths_around_every_granularity_hit_and_are_equal(setup: Setup, grain: int, offset: int) -> None:
    item = request(tokens(grain + offset, grain), params=SHORT)
    engine = setup.engine(snapshot_interval=128)
    cold, warm = drive(engine, [item])["r"], drive(engine, [item])["r"]
    assert (cold.cached, warm.cached) == (0, block_floor(grain + offset - 1))
    assert cold.compared == warm.compared == alone(setup, item).compared


@pytest.mark.parametrize("length", [128, 130])
def test_fault_4_the_identical_prompt_twice_does_not_apply_its_last_token_twice(setup: Setup, length: int) -> None:
    item = request(tokens(length, 4), params=replace(GREEDY, max_tokens=80))
    engine = setup.engine()
    answers = [drive(engine, [item])["r"] for _ in range(3)]
    assert len({str(answer.compared) for answer in answers}) == 1
    assert answers[0].compared == alone(setup, item).compared


def test_fault_5_a_prompt_with_one_new_token_populates_the_cache(setup: Setup) -> None:
    engine = setup.engine()
    drive(engine, [request(tokens(200, 5), params=ONE)])
    again = request((*tokens(200, 5), *tokens(9, 6)), params=SHORT)
    answer = drive(engine, [again])["r"]
    assert answer.cached == 192
    assert answer.compared == alone(setup, again).compared


def test_fault_6_freed_memory_filled_with_nan_reaches_nobody(setup: Setup) -> None:
    engine = setup.engine(blocks=20, slots=12, max_model_len=1024)
    for i in range(6):
        item = request(tokens(250 + i, 60 + i), params=SHORT)
        assert drive(engine, [item])["r"].compared == alone(setup, item, max_model_len=1024).compared
    fresh = setup.engine()
    poison(fresh.runner.state)
    item = request(tokens(70, 66))
    assert drive(fresh, [item])["r"].compared == alone(setup, item).compared


def test_fault_8_a_short_request_retires_in_the_middle_of_a_long_prefill(setup: Setup) -> None:
    long, short = request(tokens(1500, 8), "long", SHORT), request(tokens(40, 9), "short", SHORT)
    engine = setup.engine(budget=128)
    answers = drive(engine, [long, short])
    after = drive(engine, [replace(short, id="after"), replace(long, id="again")])
    assert answers["long"].compared == after["again"].compared == alone(setup, long).compared
    assert answers["short"].compared == after["after"].compared == alone(setup, short).compared
    assert after["again"].cached == block_floor(1499)


def test_fault_10_every_published_snapshot_equals_a_fresh_prefills_at_random_budgets(setup: Setup) -> None:
    for budget in (17, 100, 333):
        engine = setup.engine(budget=budget, snapshot_interval=64)
        drive(engine, [request(tokens(400, budget), params=SHORT), request(tokens(333, 1), "other", params=SHORT)])
        assert assert_published_is_exact(engine) > 20


@pytest.mark.parametrize("suffix", [1, 2, 31, 62, 63])
def test_fault_11_a_hit_with_a_short_suffix_batched_with_a_miss(setup: Setup, suffix: int) -> None:
    engine = setup.engine()
    drive(engine, [request(tokens(192, 11), params=ONE)])
    hit = request((*tokens(192, 11), *tokens(suffix, 12)), "hit", SHORT)
    miss = request(tokens(129, 13), "miss", SHORT)
    answers = drive(engine, [hit, miss])
    assert answers["hit"].cached == 192
    for item in (hit, miss):
        assert answers[item.id].compared == alone(setup, item).compared
    assert assert_published_is_exact(engine) > 0


def test_fault_12_one_token_prompts_join_a_decoding_batch(setup: Setup) -> None:
    engine = setup.engine()
    base = request(tokens(65, 12), "base", replace(GREEDY, max_tokens=30))
    engine.add(base)
    answers: dict[str, Answer] = {}
    ones = [request(tokens(1, 70 + i), f"one{i}", SHORT) for i in range(3)]
    for item in ones:
        collect(engine, answers, 4)
        engine.add(item)
    collect(engine, answers)
    for item in (base, *ones):
        assert answers[item.id].compared == alone(setup, item).compared


def test_fault_14_with_two_slots_requests_queue_and_stay_exact(setup: Setup) -> None:
    items = [request(tokens(100 + i, 80 + i), f"r{i}", SHORT) for i in range(4)]
    engine = setup.engine(seqs=1, slots=2, blocks=10, max_model_len=512)
    answers = drive(engine, items)
    for item in items:
        assert answers[item.id].compared == alone(setup, item, max_model_len=512).compared


def test_fault_17_batchmates_of_every_sort_change_nothing(setup: Setup) -> None:
    plain = request(tokens(100, 17), "plain", SHORT)
    engine = setup.engine()
    mates = [
        request(tokens(50, 1), "penalised", SamplingParams(frequency_penalty=1.0, max_tokens=6, ignore_eos=True)),
        request(tokens(60, 2), "nucleus", SamplingParams(top_p=0.3, max_tokens=6, ignore_eos=True), seed=3),
        request(tokens(100, 17), "salted", SHORT, cache_salt="s"),
        request(tokens(77, 3), "scored", SamplingParams(prompt_logprobs=20, max_tokens=2, ignore_eos=True)),
    ]
    answers = drive(engine, [*mates, plain])
    assert answers["plain"].compared == answers["salted"].compared == alone(setup, plain).compared


def test_fault_18_two_salts_share_nothing(setup: Setup) -> None:
    engine = setup.engine()
    first = drive(engine, [request(tokens(200, 18), params=ONE, cache_salt="a")])["r"]
    other = drive(engine, [request(tokens(200, 18), params=ONE, cache_salt="b")])["r"]
    same = drive(engine, [request(tokens(200, 18), params=ONE, cache_salt="a")])["r"]
    assert (other.cached, same.cached) == (0, 192)
    assert first.compared == other.compared == same.compared


def test_fault_20_there_is_one_logprob_a_token_the_first_included_warm_and_cold(setup: Setup) -> None:
    engine = setup.engine()
    item = request(tokens(130, 20))
    for answer in (drive(engine, [item])["r"], drive(engine, [item])["r"]):
        assert len(answer.bits) == len(answer.tokens) == GREEDY.max_tokens
        assert all(len(top) == 20 for _, _, _, top in answer.bits)


def test_fault_27_state_differences_that_show_two_chunks_later_are_looked_for(setup: Setup) -> None:
    """Tokens that repeat make keys correlated; answers run well past two chunks after the snapshot."""
    item = request(tokens(20, 27) * 12, params=replace(GREEDY, max_tokens=160))
    engine = setup.engine()
    cold, warm = drive(engine, [item])["r"], drive(engine, [item])["r"]
    assert warm.cached == 192
    assert cold.compared == warm.compared == alone(setup, item).compared


def test_logits_that_are_not_finite_fail_one_request_and_leave_the_others_exact(setup: Setup) -> None:
    engine = setup.engine()
    good, bad = request(tokens(90, 1), "good", SHORT), request(tokens(90, 2), "bad", SHORT)
    decoder = engine.runner.decoder
    kernels = decoder.kernels

    class Broken:
        """The kernels, whose logits are NaN for the second of two rows of the first pass."""

        def __getattr__(self, name: str) -> object:
            return getattr(kernels, name)

        def logits(self, x: torch.Tensor, weight: Linear) -> torch.Tensor:
            values = kernels.logits(x, weight)
            if values.shape[0] == 2:
                values[1] = float("nan")
            return values

    engine.runner.decoder = replace(decoder, kernels=cast(Kernels, Broken()))
    answers = drive(engine, [good, bad])
    assert answers["bad"].finish == "error"
    assert answers["good"].compared == alone(setup, good).compared


def test_fault_9_a_preempted_request_equals_an_unpreempted_one(setup: Setup) -> None:
    items = [request(tokens(100 + i, 90 + i), f"r{i}", replace(GREEDY, max_tokens=50)) for i in range(3)]
    small = setup.engine(blocks=8, slots=5, seqs=3, max_model_len=512)
    answers, undisturbed = drive(small, items), drive(setup.engine(), items)
    assert small.stats().preemptions > 0
    for item in items:
        assert answers[item.id].compared == undisturbed[item.id].compared == alone(setup, item).compared


def test_fault_16_a_snapshot_is_every_state_tensor_of_one_slot(setup: Setup) -> None:
    """There is no way to publish a part: a slot id names a place in each tensor, and each was written."""
    engine = setup.engine(snapshot_interval=64)
    drive(engine, [request(tokens(300, 16), params=SHORT)])
    state = engine.runner.state
    slots = [slot for _, _, slot in engine.cache.published() if slot]
    assert len(slots) >= 4 and len(state.by_slot()) >= 2
    for slot in slots:
        assert all(torch.isfinite(tensor[slot].float()).all() for tensor in state.by_slot().values())
    assert assert_published_is_exact(engine) > 0


@pytest.mark.parametrize("budget", [17, 255, 256, 257])
def test_fault_26_no_number_of_rows_in_a_pass_changes_a_row(setup: Setup, budget: int) -> None:
    """Passes just below, at and above 256 rows and every smaller number on the way, alone and with a neighbour."""
    items = [request(tokens(530, 26), "long", SHORT), request(tokens(40, 27), "short", SHORT)]
    engine = setup.engine(budget=budget)
    answers = drive(engine, items)
    for item in items:
        assert answers[item.id].compared == alone(setup, item).compared
    assert assert_published_is_exact(engine) > 0


def test_fault_31_what_an_engine_has_served_before_changes_nothing(setup: Setup) -> None:
    """No switch is set by the first request or by how many there were."""
    item = request(tokens(90, 31), params=GREEDY)
    engine = setup.engine(caching=False)
    answers = [drive(engine, [item])["r"]]
    for i in range(6):
        drive(engine, [request(tokens(10 + 60 * i, i), f"n{j}", SHORT) for j in range(1 + i)])
        answers.append(drive(engine, [item])["r"])
    assert len({str(answer.compared) for answer in answers}) == 1
    assert answers[0].compared == alone(setup, item).compared
