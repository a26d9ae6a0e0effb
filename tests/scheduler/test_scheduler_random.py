"""Random schedules: every answer is what the request gets alone; the memory's contents are checked in every pass."""

import random

import pytest
from rig import Rig, alone, request, words
from written_policy import Policy

from isotherm.core.request import Request


def draw_request(rng: random.Random, name: str, history: list[tuple[int, ...]], limit: int) -> Request:
    """A prompt from a family with shared prefixes, sometimes a turn that goes on from an earlier answer."""
    base = rng.choice(history) if history and rng.random() < 0.4 else words(rng.choice([1, 63, 64, 65, 128, 200]), 0)
    prompt = (base + words(rng.randrange(1, 90), rng.randrange(4)))[: limit - 2]
    return request(
        name,
        prompt,
        max_tokens=rng.choice([1, 2, 30, 70, 130]),
        seed=rng.randrange(3),
        hint=rng.choice([0, 64, 100]),
        cache_salt=rng.choice(["", "", "salt"]),
        skip_reading_prefix_cache=rng.random() < 0.1,
        frequency_penalty=rng.choice([0.0, 0.0, 1.0]),
        prompt_logprobs=rng.choice([None, None, None, 1]),
        logprobs=rng.choice([None, 2]),
        ignore_eos=rng.random() < 0.7,
        stop=rng.choice([(), ("AB", "C")]),
        min_tokens=0,
    )


@pytest.mark.parametrize("host", [None, (1, 1), (7, 3), (400, 200)], ids=str)
@pytest.mark.parametrize("seed", range(24))
def test_any_schedule_gives_each_request_the_answer_it_gets_alone(seed: int, host: tuple[int, int] | None) -> None:
    rng = random.Random(seed)
    blocks, limit = rng.choice([(6, 384), (8, 384), (30, 512), (200, 512)])
    rig = Rig(
        blocks=blocks,
        slots=rng.choice([2, 3, 5, 8, 30]),
        budget=rng.choice([1, 9, 64, 100, 300]),
        seqs=rng.choice([1, 2, 4, 6]),
        max_model_len=limit,
        caching=rng.random() < 0.9,
        host=host,
    )
    history: list[tuple[int, ...]] = []
    asked: dict[str, Request] = {}
    cancelled: set[str] = set()
    while len(asked) < 10 or rig.scheduler.has_work:
        if len(asked) < 10 and rng.random() < 0.3:
            asked[f"r{len(asked)}"] = new = draw_request(rng, f"r{len(asked)}", history, limit)
            rig.add(new)
        victim = rng.choice(list(asked)) if asked and rng.random() < 0.02 else None
        cancelled |= {victim} if victim else set()
        rig.step(in_flight=(lambda name=victim: rig.scheduler.cancel(name)) if victim else None)  # type: ignore[misc]
        history += [
            r.prompt + rig.tokens(n) for n, r in asked.items() if rig.outputs[n] and rig.finish(n) and n in "r0r3r6"
        ]
        history = history[-6:]
    for name, own in asked.items():
        if rig.finish(name) != "abort":
            assert rig.answer(name) == alone(own, max_model_len=limit), name
        else:
            whole = alone(own, max_model_len=limit)[0]
            assert name in cancelled and isinstance(whole, tuple)
            assert whole[: len(rig.tokens(name))] == rig.tokens(name)
    assert rig.scheduler.stats().running == rig.scheduler.stats().waiting == 0


@pytest.mark.parametrize("seed", range(8))
def test_one_at_a_time_every_hit_is_what_the_policy_says(seed: int) -> None:
    rng = random.Random(seed)
    rig, policy = Rig(blocks=3000, slots=600, budget=rng.choice([50, 64, 300])), Policy()
    history: list[tuple[int, ...]] = []
    for i in range(12):
        asked = draw_request(rng, str(i), history, 1024)
        expected = policy.expect(asked)
        rig.run(asked)
        first = rig.outputs[asked.id][0]
        assert (first.cached_tokens, first.matched_tokens) == expected, asked.id
        policy.record(asked, rig.tokens(asked.id))
        history.append(asked.prompt + rig.tokens(asked.id))
    assert rig.scheduler.stats().cache_hits > 0


@pytest.mark.parametrize("seed", range(8))
def test_one_at_a_time_a_tiny_pool_over_a_roomy_host_hits_as_if_there_were_memory_enough(seed: int) -> None:
    """But for snapshots that a prompt went without, since its own blocks and states took all there was."""
    rng = random.Random(seed)
    rig = Rig(blocks=10, slots=12, budget=rng.choice([50, 64, 300]), max_model_len=512, host=(3000, 600))
    policy = Policy()
    history: list[tuple[int, ...]] = []
    for i in range(25):
        asked = draw_request(rng, str(i), history, 400)
        expected = policy.expect(asked)
        rig.run(asked)
        first = rig.outputs[asked.id][0]
        assert (first.cached_tokens, first.matched_tokens) == expected, asked.id
        policy.record(asked, rig.tokens(asked.id))
        history.append(asked.prompt + rig.tokens(asked.id))
    stats = rig.scheduler.stats()
    assert stats.evicted_snapshots and stats.host.hits and not stats.skipped_snapshots and not stats.host.lost_snapshots


@pytest.mark.parametrize("seed", range(4))
def test_the_same_calls_plan_the_same_passes(seed: int) -> None:
    def plans() -> list[object]:
        rng = random.Random(seed)
        rig = Rig(blocks=8, slots=4, seqs=3, budget=80, max_model_len=384, host=(9, 5))
        rig.run(*[draw_request(rng, str(i), [], 384) for i in range(8)])
        return [(plan.segments, plan.host) for plan in rig.plans]

    assert plans() == plans()
