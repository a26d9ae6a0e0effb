"""What the scheduler plans under the historical layouts: where hits go on from, replays, copies, cuts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_rig import Rig, words

from isotherm.core.numerics import NativeConfig
from isotherm.core.plan import BlockCopy, Replay, Segment

A3 = NativeConfig(tail_split=True, restore="below", kv="reuse", match_unit=1, replay="sequential")
GRID = NativeConfig(restore="below", grid=256, fine_grid=64)


def last_prefill(rig: Rig, passes: int = 1) -> list[Segment]:
    return [segment for plan in rig.plans[-passes:] for segment in plan.segments]


def test_never_restoring_matches_and_computes_everything() -> None:
    rig = Rig(NativeConfig(restore="never"))
    rig.run("a", words(300))
    again = rig.run("b", words(300))
    assert (again.cached_tokens, again.matched_tokens) == (0, 256)
    assert last_prefill(rig)[0].start == 0 and last_prefill(rig)[0].replay is None
    assert rig.scheduler.stats().declined == {"no_match": 1, "not_restored": 1}


def test_the_deepest_snapshot_leaves_nothing_to_replay() -> None:
    rig = Rig(NativeConfig())
    rig.run("a", words(300))
    again = rig.run("b", words(256) + words(50, 1))
    assert (again.cached_tokens, again.matched_tokens) == (256, 256)
    assert last_prefill(rig)[0].replay == Replay(256, 256, rewrites=True)


def test_restoring_below_the_match_replays_from_a_block_before() -> None:
    rig = Rig(NativeConfig(restore="below"))
    rig.run("a", words(300))
    again = rig.run("b", words(256) + words(50, 1))
    assert (again.cached_tokens, again.matched_tokens) == (192, 256)
    (segment,) = last_prefill(rig)
    assert (segment.start, segment.replay) == (192, Replay(192, 256, rewrites=True))
    assert segment.blocks[3] != rig.plans[0].segments[0].blocks[3], "a private block"


def test_reusing_takes_the_matched_blocks_as_they_are() -> None:
    rig = Rig(NativeConfig(restore="below", kv="reuse"))
    rig.run("a", words(300))
    rig.run("b", words(256) + words(50, 1))
    (segment,) = last_prefill(rig)
    assert segment.replay == Replay(192, 256, rewrites=False)
    assert segment.blocks[:4] == rig.plans[0].segments[0].blocks[:4]


def test_a_part_of_a_block_is_matched_and_copied_once() -> None:
    rig = Rig(A3)
    rig.run("a", words(320))
    again = rig.run("b", words(270) + words(50, 1))
    assert (again.cached_tokens, again.matched_tokens) == (256, 270)
    old, (first, tail) = rig.plans[0].segments[0], last_prefill(rig, 2)
    assert (first.start, first.end, tail.end) == (256, 288, 320), "cut at floor((320-1)/16)*16-16"
    assert first.replay == Replay(256, 270, rewrites=False) and tail.replay is None
    assert [plan.copies for plan in rig.plans[-2:]] == [(BlockCopy(old.blocks[4], first.blocks[4]),), ()]


def test_the_copy_waits_for_the_pass_that_reaches_its_block() -> None:
    rig = Rig(A3, budget=70)
    rig.run("a", words(400), hint=130)
    rig.plans.clear()
    assert rig.run("b", words(270) + words(50, 1)).cached_tokens == 128
    passes = [(plan.segments[0].start, plan.segments[0].end, len(plan.copies)) for plan in rig.plans]
    assert passes == [(128, 198, 0), (198, 268, 1), (268, 288, 0), (288, 320, 0)]
    assert [plan.segments[0].replay is not None for plan in rig.plans] == [True, True, True, False]


def test_on_a_grid_passes_begin_and_end_on_it_warm_as_cold() -> None:
    rig = Rig(GRID)
    rig.run("a", words(700))
    rig.run("b", words(690) + words(40, 1))
    passes = [(s.start, s.end) for plan in rig.plans for s in plan.segments]
    assert passes == [(0, 256), (256, 512), (512, 576), (576, 640), (640, 700), (576, 640), (640, 704), (704, 730)]


def test_generated_tokens_are_reused_without_a_grid_and_not_on_one() -> None:
    for native, hit in ((NativeConfig(), 384), (NativeConfig(grid=64), 256)):
        rig = Rig(native)
        rig.run("a", words(300), max_tokens=100)
        tokens = [segment.tokens[-1] for plan in rig.plans for segment in plan.segments if len(segment.tokens) == 1]
        assert rig.run("b", (*words(300), *tokens, 5)).cached_tokens == hit


SWITCHES = [
    NativeConfig(),
    A3,
    NativeConfig(tail_split=True, restore="below", kv="reuse"),
    NativeConfig(restore="below", replay="sequential"),
    NativeConfig(kv="reuse", match_unit=1),
    GRID,
    NativeConfig(grid=128),
]


@pytest.mark.parametrize("native", SWITCHES, ids=str)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_random_requests_find_all_their_keys_and_values_and_end(native: NativeConfig, data: st.DataObject) -> None:
    """Shared beginnings, several at once, blocks and slots short: invariants hold after every step."""
    rig = Rig(
        native, budget=data.draw(st.sampled_from([300, 4096])), blocks=data.draw(st.sampled_from([34, 80])), slots=9
    )
    for number in range(data.draw(st.integers(2, 8))):
        shared, own = data.draw(st.integers(0, 500)), data.draw(st.integers(1, 200))
        rig.add(str(number), words(shared) + words(own, number + 1), data.draw(st.integers(1, 90)))
        for _ in range(data.draw(st.integers(0, 6))):
            rig.step()
    for _ in range(4000):
        if not rig.scheduler.has_work:
            return
        rig.step()
    raise AssertionError("it does not come to an end")


def test_a_prompt_that_the_cache_holds_already_goes_on_with_its_own_copies() -> None:
    """The tree's may come from another layout: only a hit may change an answer."""
    rig = Rig(NativeConfig(restore="never"))
    rig.run("a", words(300), max_tokens=3)
    rig.plans.clear()
    rig.run("b", words(256) + words(100, 1), max_tokens=3)
    tables = {segment.blocks[:5] for plan in rig.plans for segment in plan.segments}
    assert len(tables) == 1 and len(rig.plans) == 3
    assert rig.run("c", words(256) + words(100, 1)).matched_tokens == 320, "what is new of it was published"


def test_with_blocks_short_it_takes_the_trees_copies_and_gives_its_own_back() -> None:
    rig = Rig(NativeConfig(restore="never"), blocks=60)
    rig.run("a", words(1300))
    rig.plans.clear()
    rig.run("b", words(1280) + words(20, 1), max_tokens=2)
    first, second = (plan.segments[0].blocks for plan in rig.plans)
    assert first[0] == second[0] and first[19] != second[19], "held beside its own while half of all can be had"
