"""Preemption and cancellation: who goes, what is kept, and that nobody's answer changes."""

from itertools import pairwise

import pytest
from rig import Rig, alone, request, words

from isotherm.core.plan import SampleRow

TINY = {"blocks": 8, "max_model_len": 448, "seqs": 3}


def test_the_latest_arrival_makes_room_and_goes_on_from_what_it_published() -> None:
    rig = Rig(**TINY)  # type: ignore[arg-type]
    asked = [request(name, words(140, seed), max_tokens=120) for seed, name in enumerate("abc")]
    rig.run(*asked)
    stats = rig.scheduler.stats()
    assert stats.preemptions > 0
    assert [rig.answer(r.id) for r in asked] == [alone(r) for r in asked]
    ends = [max(i for i, plan in enumerate(rig.plans) for s in plan.segments if s.sequence == n) for n in range(3)]
    assert ends == sorted(ends), "the first to arrive is never preempted"


def test_a_preempted_request_samples_no_token_twice() -> None:
    rig = Rig(**TINY)  # type: ignore[arg-type]
    rig.run(*[request(name, words(140, seed), max_tokens=120) for seed, name in enumerate("abc")])
    for number in range(3):
        segments = [s for plan in rig.plans for s in plan.segments if s.sequence == number]
        sampled = [s.start + row.offset for s in segments for row in s.rows if isinstance(row, SampleRow)]
        assert sampled == list(range(139, 139 + 120))


def test_cached_tokens_are_those_of_the_first_admission() -> None:
    rig = Rig(**TINY)  # type: ignore[arg-type]
    rig.run(*[request(name, words(140, seed), max_tokens=120) for seed, name in enumerate("abc")])
    assert rig.scheduler.stats().preemptions > 0
    assert [rig.cached(name) for name in "abc"] == [0, 0, 0]
    assert rig.scheduler.stats().prompt_tokens == 420
    assert sum(rig.scheduler.stats().declined.values()) == 3


def test_a_preempted_request_finds_its_own_generated_tokens() -> None:
    rig = Rig(**TINY)  # type: ignore[arg-type]
    rig.run(*[request(name, words(140, seed), max_tokens=120) for seed, name in enumerate("ab")])
    starts = [s.start for plan in rig.plans for s in plan.segments if s.sequence == 1]
    again = [after for before, after in pairwise(starts) if after <= before]
    assert all(start >= 64 and start % 64 == 0 for start in again)
    assert len(again) == rig.scheduler.stats().preemptions


def test_seeds_and_penalties_survive_preemption() -> None:
    rig = Rig(**TINY)  # type: ignore[arg-type]
    asked = [
        request(name, words(140, seed), max_tokens=120, seed=seed + 5, frequency_penalty=1.0, logprobs=1, stop=("QQ",))
        for seed, name in enumerate("abc")
    ]
    rig.run(*asked)
    assert rig.scheduler.stats().preemptions > 0
    assert [rig.answer(r.id) for r in asked] == [alone(r) for r in asked]


def test_prompt_logprobs_survive_preemption_in_mid_prompt() -> None:
    rig = Rig(budget=40, **TINY)  # type: ignore[arg-type]
    asked = [
        request("a", words(120, 1), max_tokens=150),
        request("b", words(110, 2), max_tokens=60),
        request("c", words(200, 3), max_tokens=5, prompt_logprobs=2),
    ]
    rig.run(*asked)
    assert [rig.answer(r.id) for r in asked] == [alone(r) for r in asked]


def test_a_pool_of_one_full_sequence_serves_everybody_in_turn() -> None:
    rig = Rig(blocks=7, max_model_len=448, seqs=4, slots=3)
    asked = [request(str(i), words(100 + 40 * i, i), max_tokens=447 - 100 - 40 * i) for i in range(5)]
    rig.run(*asked)
    assert [rig.answer(r.id) for r in asked] == [alone(r) for r in asked]


def test_a_waiting_request_can_be_cancelled() -> None:
    rig = Rig(seqs=1)
    rig.add(request("a", words(50), max_tokens=30), request("b", words(50)))
    rig.step()
    rig.scheduler.cancel("b")
    rig.run()
    assert [(o.finish_reason, o.tokens, o.cached_tokens) for o in rig.outputs["b"]] == [("abort", (), 0)]
    assert rig.finish("a") == "length"


def test_cancelling_the_only_request_leaves_work_until_its_output_is_taken() -> None:
    rig = Rig()
    rig.add(request("a", words(50)))
    rig.scheduler.cancel("a")
    assert rig.scheduler.has_work
    rig.step()
    assert (rig.finish("a"), rig.scheduler.has_work) == ("abort", False)


def test_cancelling_twice_or_a_stranger_does_nothing() -> None:
    rig = Rig()
    rig.add(request("a", words(50)))
    for name in ("a", "a", "nobody"):
        rig.scheduler.cancel(name)
    rig.run()
    assert len(rig.outputs["a"]) == 1


@pytest.mark.parametrize("passes", range(9))
@pytest.mark.parametrize("in_flight", [True, False], ids=["in flight", "between passes"])
def test_a_long_prefill_cancelled_at_any_pass_can_be_retried(passes: int, in_flight: bool) -> None:
    rig = Rig(budget=100, seqs=2)
    asked = request("a", words(730), max_tokens=5)
    neighbour = request("n", words(300, 7), max_tokens=20)
    rig.add(asked, neighbour)
    for _ in range(passes):
        rig.step()
    if in_flight:
        rig.step(in_flight=lambda: rig.scheduler.cancel("a"))
    else:
        rig.scheduler.cancel("a")
        rig.step()
    computed = max((s.end for plan in rig.plans for s in plan.segments if s.sequence == 0), default=0)
    assert rig.finish("a") == "abort"
    rig.run()
    rig.run(request("again", asked.prompt, max_tokens=5))
    assert rig.cached("again") == computed // 64 * 64, "what was computed is found again"
    assert rig.answer("again") == alone(asked)
    assert rig.answer("n") == alone(neighbour)


def test_ids_of_a_request_cancelled_in_flight_are_freed_only_when_the_pass_has_completed() -> None:
    rig = Rig(caching=False)
    rig.add(request("a", words(200), max_tokens=9))
    used = []

    def cancel() -> None:
        rig.scheduler.cancel("a")
        used.append(rig.scheduler.stats().blocks_used)

    rig.step(in_flight=cancel)
    assert used == [4]
    assert rig.scheduler.stats().blocks_used == 0
