"""What goes into a pass: order, budget, chunks, boundaries."""

from itertools import pairwise

import pytest
from fake_runner import letters
from rig import Rig, alone, request, words

from isotherm.cache import PrefixCache
from isotherm.core.plan import Segment
from isotherm.core.sampling import SamplingParams
from isotherm.scheduler.counters import Counters
from isotherm.scheduler.passes import PassDraft
from isotherm.scheduler.roster import Roster
from isotherm.scheduler.sequence import Sequence


def segments(rig: Rig, number: int) -> list[Segment]:
    return [segment for plan in rig.plans for segment in plan.segments if segment.sequence == number]


def test_decodes_come_first_then_running_prefills_then_admissions() -> None:
    rig = Rig(budget=100, seqs=4)
    rig.add(request("decoding", words(20), max_tokens=20))
    rig.step()
    rig.add(request("long", words(400, 1)), request("short", words(10, 2)))
    rig.step()
    assert [(s.sequence, len(s.tokens)) for s in rig.plans[-1].segments] == [(0, 1), (1, 99)]
    for _ in range(4):
        rig.step()
    assert [(s.sequence, len(s.tokens)) for s in rig.plans[-1].segments] == [(0, 1), (1, 4), (2, 10)]


def test_a_pass_never_exceeds_its_budget_or_its_lanes() -> None:
    rig = Rig(budget=70, seqs=3)
    rig.run(*[request(str(i), words(90 + i, i), max_tokens=9) for i in range(8)])
    assert max(plan.tokens for plan in rig.plans) == 70
    assert {s.lane for plan in rig.plans for s in plan.segments} == {0, 1, 2}


def test_a_budget_below_the_number_of_decodes_serves_the_first_arrivals() -> None:
    rig = Rig(budget=2, seqs=4)
    asked = [request(str(i), words(3 + i, i), max_tokens=9) for i in range(5)]
    rig.run(*asked)
    assert [rig.answer(r.id) for r in asked] == [alone(r) for r in asked]


def test_chunks_follow_one_another_without_a_gap_and_are_cut_anywhere() -> None:
    rig = Rig(budget=37)
    rig.run(request("a", words(300), max_tokens=3))
    found = segments(rig, 0)
    assert all(before.end == after.start for before, after in pairwise(found))
    assert [len(s.tokens) for s in found] == [37] * 8 + [4, 1, 1], "no pass is cut for a boundary"


def test_every_segment_writes_its_last_boundary_and_only_wanted_ones_before() -> None:
    rig = Rig(budget=200, seqs=1)
    rig.run(request("a", words(700), hint=100, max_tokens=70))
    writes = [tuple(write.position for write in s.writes) for s in segments(rig, 0)]
    assert writes[:4] == [(64, 192), (256, 384), (512, 576), (640,)]
    assert [w for w in writes[4:] if w] == [(704,), (768,)]


def test_only_the_last_known_token_is_sampled() -> None:
    rig = Rig(budget=50)
    rig.run(request("a", words(120), max_tokens=2))
    assert [[row.offset for row in s.rows] for s in segments(rig, 0)] == [[], [], [19], [0]]


def test_a_hit_and_a_miss_share_a_pass() -> None:
    rig = Rig()
    rig.run(request("plant", words(128)))
    asked = [request("hit", words(128) + words(5, 1)), request("miss", words(133, 2))]
    rig.add(*asked)
    rig.step()
    assert [(s.start, len(s.tokens)) for s in rig.plans[-1].segments] == [(128, 5), (0, 133)]
    rig.run()
    assert [rig.answer(r.id) for r in asked] == [alone(r) for r in asked]


def test_two_hits_on_one_snapshot_share_its_slot() -> None:
    rig = Rig()
    rig.run(request("plant", words(128)))
    rig.add(*[request(str(i), words(128) + words(5, i), max_tokens=9) for i in range(3)])
    rig.step()
    assert len({s.state for s in rig.plans[-1].segments}) == 1
    assert len({s.blocks[:2] for s in rig.plans[-1].segments}) == 1
    rig.run()


def test_equal_prompts_in_one_pass_keep_one_copy() -> None:
    rig = Rig(seqs=4, budget=1000)
    rig.run(*[request(str(i), words(128), max_tokens=3) for i in range(4)])
    assert rig.runner.duplicates == 12, "two blocks and two snapshots, three times"
    assert rig.scheduler.stats().blocks_used == 2


def test_requests_are_admitted_in_order_of_arrival() -> None:
    rig = Rig(blocks=16, seqs=4, budget=64)
    rig.run(*[request(str(i), words(700 if i % 2 else 40, i), max_tokens=2) for i in range(6)])
    first = {}
    for at, plan in enumerate(rig.plans):
        for segment in plan.segments:
            first.setdefault(segment.sequence, at)
    assert [first[number] for number in range(6)] == sorted(first.values())


def test_a_large_request_at_the_head_is_not_overtaken_for_ever() -> None:
    rig = Rig(blocks=16, seqs=3, budget=64)
    rig.add(request("running", words(500, 1), max_tokens=30))
    rig.step()
    rig.add(request("large", words(900, 2)), *[request(f"s{i}", words(10, i + 3)) for i in range(4)])
    rig.run()
    ends = {name: i for i, name in enumerate(rig.outputs) if rig.finish(name) == "length"}
    assert len(ends) == 6


@pytest.mark.parametrize("slots", [2, 3, 5])
def test_few_slots_run_fewer_sequences_and_answer_the_same(slots: int) -> None:
    rig = Rig(slots=slots, seqs=4, budget=100)
    asked = [request(str(i), words(150 + 17 * i, i % 2), max_tokens=70) for i in range(6)]
    rig.run(*asked)
    assert [rig.answer(r.id) for r in asked] == [alone(r) for r in asked]
    assert max(len(plan.segments) for plan in rig.plans) <= slots - 1


def test_snapshots_that_find_no_slot_are_left_out_and_counted() -> None:
    rig = Rig(slots=2, seqs=1, budget=1000)
    rig.run(request("a", words(700), hint=64))
    assert rig.scheduler.stats().skipped_snapshots == 2, "those at 256 and 512"
    assert [w.position for w in segments(rig, 0)[0].writes] == [64, 640]


def test_the_parameters_reach_the_sampling_row() -> None:
    rig = Rig()
    rig.run(request("a", words(5), seed=9, choice=3, temperature=0.5))
    row = rig.plans[0].segments[0].rows[0]
    assert (row.seed, row.choice, row.params.temperature) == (9, 3, 0.5)  # type: ignore[union-attr]
    assert isinstance(row.params, SamplingParams)  # type: ignore[union-attr]


def test_a_sequence_that_the_pass_computes_already_is_not_preempted_by_an_older_one() -> None:
    cache, roster = PrefixCache(6, 6), Roster(2)
    older = Sequence(0, request("older", words(300)), letters())
    later = Sequence(1, request("later", words(130)), letters())
    for sequence in (older, later):
        roster.wait(sequence)
        roster.start(sequence)
    later.blocks, later.slot = cache.allocate_blocks(3) or (), cache.allocate_slot() or 0
    later.computed = 129
    draft = PassDraft(400, cache, roster, Counters())
    draft.extend(later)
    draft.extend(older)
    plan = draft.finish()
    assert plan is not None
    assert [segment.sequence for segment in plan.segments] == [1]
    assert (roster.running, roster.waiting) == ([later], [older]), "it makes room itself"


def test_nobody_is_admitted_into_blocks_that_a_running_sequence_is_about_to_need() -> None:
    rig = Rig(blocks=2, max_model_len=128)
    rig.run(request("a", words(64), max_tokens=3), request("b", words(10, 1)))
    assert rig.scheduler.stats().preemptions == 0
    assert [len(plan.segments) for plan in rig.plans] == [1] * 7


def test_nobody_is_admitted_without_a_slot_for_its_first_boundary() -> None:
    rig = Rig(slots=3, seqs=2)
    rig.run(request("plant", words(130)))
    rig.add(request("a", words(70, 1), max_tokens=100))
    for _ in range(58):
        rig.step()
    rig.add(request("b", words(128) + words(70, 2)))
    rig.step()
    assert [w.position for s in rig.plans[-1].segments for w in s.writes] == [128], "the last slot but the hit's own"
    assert rig.scheduler.stats().waiting == 1
    rig.run()
    assert rig.cached("b") == 128


def test_a_prefix_in_use_outlives_one_that_is_not() -> None:
    rig = Rig(slots=6, seqs=1)
    for name, seed in (("used", 0), ("idle", 1)):
        rig.run(request(name, words(130, seed), max_tokens=1))
    for i in range(8):
        rig.run(request(f"u{i}", words(128) + words(70, i + 20), max_tokens=1))
        rig.run(request(f"x{i}", words(130, i + 5), max_tokens=1))
    rig.run(request("u", words(128) + words(9, 50)))
    rig.run(request("i", words(128, 1) + words(9, 50)))
    assert (rig.cached("u"), rig.cached("i")) == (128, 0)
