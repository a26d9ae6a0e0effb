"""Reach: the policy's numbers by hand, and waves whose numbers do not depend on who came first."""

import itertools

from isotherm.gate.reach import Lookup, Policy, PublishedTree, Served, expected_hits, plan_waves

POLICY = Policy(block=64, interval=0)


def tokens(length: int, seed: int = 0) -> tuple[int, ...]:
    return tuple(range(seed * 100_000, seed * 100_000 + length))


def one_by_one(*requests: Served, policy: Policy = POLICY) -> list[int]:
    return expected_hits(policy, [[request] for request in requests])


def test_the_first_request_finds_nothing_and_its_repetition_all_blocks_but_the_last_token() -> None:
    for length, hit in [(63, 0), (64, 0), (65, 64), (127, 64), (128, 64), (129, 128), (200, 192)]:
        assert one_by_one(Served(tokens(length)), Served(tokens(length))) == [0, hit], length


def test_a_prompt_of_whole_blocks_is_found_whole_by_what_continues_it() -> None:
    assert one_by_one(Served(tokens(128)), Served(tokens(128) + tokens(10, 1))) == [0, 128]


def test_a_shared_preamble_is_found_from_the_second_request_on_because_of_the_hint() -> None:
    requests = [Served(tokens(200) + tokens(100, seed), hint=200) for seed in (1, 2, 3)]
    assert one_by_one(*requests) == [0, 192, 192]


def test_without_a_hint_the_second_request_marks_the_junction_and_the_third_finds_it() -> None:
    requests = [Served(tokens(200) + tokens(100, seed)) for seed in (1, 2, 3)]
    assert one_by_one(*requests) == [0, 0, 192]


def test_a_follow_up_finds_the_generated_tokens_except_the_last() -> None:
    first = Served(tokens(100), generated=tokens(29, 1), sampled=29)
    follow_up = Served(tokens(100) + tokens(29, 1) + tokens(50, 2))
    assert one_by_one(first, follow_up) == [0, 128]
    shorter = Served(tokens(100), generated=tokens(28, 1), sampled=28)
    assert one_by_one(shorter, follow_up) == [0, 64]


def test_an_end_token_that_was_sampled_but_not_reported_counts_as_sampled() -> None:
    first = Served(tokens(100), generated=tokens(28, 1), sampled=29)
    assert one_by_one(first, Served(tokens(100) + tokens(28, 1) + tokens(50, 2))) == [0, 128]


def test_long_prompts_leave_a_snapshot_at_every_interval() -> None:
    policy = Policy(block=64, interval=128)
    requests = [Served(tokens(600)), Served(tokens(300) + tokens(100, 1))]
    assert one_by_one(*requests, policy=policy) == [0, 256]
    assert one_by_one(*requests) == [0, 0]


def test_requests_of_a_wave_do_not_find_each_other() -> None:
    wave = [Served(tokens(200)), Served(tokens(200))]
    assert expected_hits(POLICY, [wave, wave]) == [0, 0, 192, 192]


def test_requests_that_share_a_block_which_is_not_there_yet_go_in_different_waves() -> None:
    requests = [Served(tokens(200) + tokens(100, seed), hint=200) for seed in range(1, 10)]
    assert plan_waves(POLICY, requests, 8) == [1, 8]


def test_without_a_hint_the_junction_is_settled_before_requests_go_together() -> None:
    requests = [Served(tokens(200) + tokens(100, seed)) for seed in range(1, 10)]
    assert plan_waves(POLICY, requests, 8) == [1, 1, 7]


def test_unrelated_requests_fill_whole_waves() -> None:
    assert plan_waves(POLICY, [Served(tokens(100, seed)) for seed in range(20)], 8) == [8, 8, 4]


def test_a_follow_up_never_runs_beside_the_turn_that_it_follows() -> None:
    first = Served(tokens(100), generated=tokens(29, 1), sampled=29)
    follow_up = Served(tokens(100) + tokens(29, 1) + tokens(50, 2))
    assert plan_waves(POLICY, [first, follow_up], 8) == [1, 1]


def test_in_a_planned_wave_every_order_of_publication_gives_the_expected_hits() -> None:
    stems = [Served(tokens(130, 7), hint=130), *(Served(tokens(130, 7) + tokens(90, seed), 130) for seed in (1, 2))]
    others = [Served(tokens(90, seed), generated=tokens(40, seed + 50), sampled=40) for seed in (3, 4)]
    requests = stems + others
    waves, start = [], 0
    for length in plan_waves(POLICY, requests, 8):
        waves.append(requests[start : start + length])
        start += length
    assert [len(wave) for wave in waves] == [1, 4]
    expected = expected_hits(POLICY, waves)
    for order in itertools.permutations(range(4)):
        tree = PublishedTree(POLICY)
        tree.publish(requests[0], tree.lookup(requests[0].prompt))
        hits = {}
        for index in order:
            found = tree.lookup(waves[1][index].prompt)
            tree.publish(waves[1][index], found)
            hits[index] = found.hit
        assert [hits[i] for i in range(4)] == expected[1:]


def test_a_junction_counts_only_below_the_hit() -> None:
    assert Lookup(hit=64, matched=64).junction == 0
    assert Lookup(hit=0, matched=64).junction == 64
