"""Kinds of fault seen in public engines (reach, state, keys), told at the scheduler with the fake runner."""

from collections.abc import Callable

import pytest
from rig import Rig, alone, request, words
from written_policy import Policy

from isotherm.core.request import Request


def serve_in_turn(rig: Rig, requests: list[Request]) -> None:
    """One after another; every hit is what the policy says, and every answer what it is alone."""
    policy = Policy()
    for asked in requests:
        expected = policy.expect(asked)
        rig.run(asked)
        first = rig.outputs[asked.id][0]
        assert (first.cached_tokens, first.matched_tokens) == expected, f"request {asked.id}"
        assert rig.answer(asked.id) == alone(asked), f"request {asked.id}"
        policy.record(asked, rig.tokens(asked.id))


@pytest.mark.parametrize("hint", [0, 500], ids=["no hint", "hint at the preamble's end"])
@pytest.mark.parametrize("budget", [64, 101, 2048])
def test_fault_1_every_hit_on_a_shared_prefix_is_what_the_policy_says(hint: int, budget: int) -> None:
    rig = Rig(budget=budget)
    shared = words(500)
    requests = [request(str(i), shared + words(30 + 11 * i, i + 1), hint=hint) for i in range(5)]
    serve_in_turn(rig, requests)
    assert rig.cached("1") == (448 if hint else 256)
    assert [rig.cached(str(i)) for i in (2, 3, 4)] == [448] * 3, "from the third on through the junction"


LENGTHS = [length + off for length in (64, 128, 256, 512) for off in (-1, 0, 1)]


@pytest.mark.parametrize("length", LENGTHS)
def test_fault_3_prompts_around_every_granularity_hit_as_said_and_equal(length: int) -> None:
    prompt = words(length)
    requests = [request("cold", prompt), request("warm", prompt), request("longer", prompt + words(70, 3))]
    serve_in_turn(Rig(budget=100), requests)


@pytest.mark.parametrize("length", [128, 130, 192, 255, 256])
def test_fault_4_the_identical_prompt_again_does_not_apply_the_last_token_twice(length: int) -> None:
    rig = Rig()
    requests = [request(name, words(length), max_tokens=70) for name in ("first", "second", "third")]
    serve_in_turn(rig, requests)
    assert rig.cached("third") == (length - 1) // 64 * 64


def test_fault_5_a_prompt_of_one_answer_token_fills_the_cache() -> None:
    rig = Rig()
    rig.run(request("a", words(200), max_tokens=1))
    rig.run(request("b", words(200) + words(9, 2)))
    assert rig.cached("b") == 192


def test_the_second_turn_hits_through_generated_tokens() -> None:
    rig = Rig()
    first = request("first", words(150), max_tokens=100)
    rig.run(first)
    serve_in_turn(Rig(), [first, request("second", first.prompt + rig.tokens("first") + words(20, 4))])
    rig.run(request("second", first.prompt + rig.tokens("first") + words(20, 4)))
    assert rig.cached("second") == 192, "249 tokens went through a pass"


def test_fault_7_what_a_cancelled_prefill_held_is_free_afterwards() -> None:
    rig = Rig(budget=64, caching=False)
    for passes in range(1, 8):
        rig.add(request(str(passes), words(600, passes)))
        for _ in range(passes):
            rig.step()
        rig.scheduler.cancel(str(passes))
        rig.step()
        assert (rig.scheduler.stats().blocks_used, rig.scheduler.stats().slots_used) == (0, 0)


def test_fault_8_a_short_request_retires_amid_a_long_chunked_prefill() -> None:
    rig = Rig(blocks=800, slots=60, seqs=2, budget=2048, max_model_len=50_000)
    long = request("long", words(47_000), max_tokens=3)
    rig.add(long)
    for i in range(4):
        rig.step()
        rig.add(request(f"short{i}", words(40 + 64 * i, i), max_tokens=4))
    rig.run()
    plain = Rig(blocks=800, slots=60, seqs=1, budget=50_000, max_model_len=50_000, caching=False)
    plain.run(long)
    assert rig.answer("long") == plain.answer("long")
    for i in range(4):
        asked = request(f"short{i}", words(40 + 64 * i, i), max_tokens=4)
        assert rig.answer(asked.id) == alone(asked)
    rig.run(request("after", words(47_000) + words(5, 9)))
    assert rig.cached("after") == 46_976, "the engine stays good"


def test_fault_9_a_tiny_pool_preempts_and_equals_an_unpreempted_run() -> None:
    requests = [request(str(i), words(90 + 30 * i, i % 2), max_tokens=150) for i in range(6)]
    tiny = Rig(blocks=7, slots=4, seqs=3, max_model_len=448, budget=90)
    tiny.run(*requests)
    roomy = Rig(blocks=400, slots=40, seqs=3, max_model_len=448, budget=90)
    roomy.run(*requests)
    assert (tiny.scheduler.stats().preemptions > 0, roomy.scheduler.stats().preemptions) == (True, 0)
    assert [tiny.answer(r.id) for r in requests] == [roomy.answer(r.id) for r in requests]


def test_fault_14_a_snapshot_in_use_by_a_hit_in_flight_is_not_evicted() -> None:
    rig = Rig(slots=3, seqs=2, budget=300)
    rig.run(request("plant", words(128)))
    hit = request("hit", words(128) + words(40, 1), max_tokens=100)
    crowd = [request(f"c{i}", words(300, i + 2), max_tokens=70) for i in range(4)]
    rig.add(hit)
    rig.run(*crowd)
    assert rig.cached("hit") == 128
    assert [rig.answer(r.id) for r in (hit, *crowd)] == [alone(r) for r in (hit, *crowd)]
    assert rig.scheduler.stats().evicted_snapshots > 0


def test_fault_14_a_two_slot_pool_queues_and_never_crashes() -> None:
    rig = Rig(slots=2, seqs=4, budget=500)
    requests = [request(str(i), words(130, 0) + words(100, i), max_tokens=70) for i in range(5)]
    rig.run(*requests)
    assert [rig.answer(r.id) for r in requests] == [alone(r) for r in requests]


def test_fault_14_with_nothing_evictable_a_request_waits_its_turn() -> None:
    rig = Rig(blocks=16, seqs=2)
    rig.add(request("big", words(900), max_tokens=20), request("next", words(500, 1)))
    for _ in range(8):
        rig.step()
    assert (rig.scheduler.stats().running, rig.scheduler.stats().waiting) == (1, 1)
    rig.run()
    assert (rig.finish("big"), rig.finish("next")) == ("length", "length")


def test_fault_16_every_snapshot_is_written_in_the_pass_that_publishes_it() -> None:
    rig = Rig(budget=130)
    rig.run(*[request(str(i), words(400, 0) + words(90, i), hint=70, max_tokens=70) for i in range(3)])
    nodes = list(rig.cache._content.tree.nodes())
    kept = {node.slot: node.end for node in nodes if node.has_snapshot}
    assert len(kept) > 4
    assert {slot: rig.runner.slots[slot][0] for slot in kept} == kept, "each slot holds the state of its node's end"
    assert all(len(rig.runner.blocks[node.block]) == 64 for node in nodes), "each block is full"


def test_fault_18_two_salts_share_nothing() -> None:
    rig = Rig()
    rig.run(request("a", words(300), cache_salt="one"))
    rig.run(request("b", words(300), cache_salt="two"), request("c", words(300)))
    rig.run(request("d", words(300), cache_salt="one"))
    assert [rig.cached(name) for name in "abcd"] == [0, 0, 0, 256]
    assert rig.outputs["b"][0].matched_tokens == 0


@pytest.mark.parametrize("block_hash", [lambda _: 0, lambda tokens: tokens[0]], ids=["constant", "first token"])
def test_fault_18_blocks_whose_hashes_collide_are_not_taken_for_one_another(
    block_hash: Callable[[tuple[int, ...]], int],
) -> None:
    rig = Rig(block_hash=block_hash)
    other = request("other", words(1) + words(299, 8))
    rig.run(request("a", words(300)), other)
    assert (rig.cached("other"), rig.outputs["other"][0].matched_tokens) == (0, 0)
    assert rig.answer("other") == alone(other)
    rig.run(request("same", words(300)))
    assert rig.cached("same") == 256
