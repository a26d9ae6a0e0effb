"""Cut points and snapshot points of the historical layouts, by hand and by their properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotherm.core.layout import Layout
from isotherm.core.numerics import NativeConfig
from isotherm.native.layout import NativeLayout

LENGTHS = st.integers(2, 3000)
GRIDS = st.sampled_from([(256, 64), (256, 128), (512, 0), (64, 64), (1024, 256)])


def layout(**switches: object) -> NativeLayout:
    return NativeLayout(256, NativeConfig(**switches))  # type: ignore[arg-type]


def ends(policy: Layout, prompt: int, start: int = 0, budget: int = 4096) -> list[int]:
    """Where the passes of a prefill end."""
    found = [start]
    while found[-1] < prompt:
        found.append(policy.segment_end(found[-1], prompt, prompt, budget))
        assert found[-1] > found[-2], "it stands still"
    return found[1:]


@pytest.mark.parametrize(
    ("prompt", "cuts"),
    [(1, [1]), (32, [32]), (33, [16, 33]), (48, [16, 48]), (49, [32, 49]), (100, [80, 100]), (2000, [1968, 2000])],
)
def test_the_tail_is_split_at_sixteen_below_the_last_whole_sixteen_of_all_but_one(prompt: int, cuts: list[int]) -> None:
    assert ends(layout(tail_split=True), prompt) == cuts


def test_a_hit_beyond_the_split_is_not_cut_again() -> None:
    assert ends(layout(tail_split=True), 100, start=80) == [100]
    assert ends(layout(tail_split=True), 100, start=64) == [80, 100]


@pytest.mark.parametrize(
    ("prompt", "cuts"),
    [
        (100, [64, 100]),
        (256, [64, 128, 192, 256]),
        (257, [256, 257]),
        (700, [256, 512, 576, 640, 700]),
        (768, [256, 512, 576, 640, 704, 768]),
    ],
)
def test_the_fine_grid_cuts_only_what_follows_the_last_coarse_cut(prompt: int, cuts: list[int]) -> None:
    assert ends(layout(grid=256, fine_grid=64), prompt) == cuts


def test_a_coarse_grid_alone_leaves_the_rest_whole() -> None:
    assert ends(layout(grid=256), 700) == [256, 512, 700]


def test_on_a_grid_a_pass_without_room_for_the_whole_way_waits() -> None:
    policy = layout(grid=256)
    assert policy.segment_end(0, 700, 700, 255) == 0
    assert policy.segment_end(512, 700, 700, 187) == 512
    assert policy.segment_end(512, 700, 700, 188) == 700


def test_without_a_grid_the_budget_cuts() -> None:
    assert ends(layout(tail_split=True), 100, budget=50) == [50, 80, 100]


def test_the_last_two_cuts_below_the_end_are_kept_and_inserts_are_floored() -> None:
    policy = layout(grid=256, fine_grid=64)
    assert policy.prompt_snapshots(700, 0, 0) == (256, 512, 576, 640), "the interval's, and the last two"
    assert policy.prompt_snapshots(700, 600, 640) == (256, 512, 576, 640)
    assert NativeLayout(0, policy.native).prompt_snapshots(700, 500, 0) == (256, 576, 640), "a hint in a coarse pass"
    assert policy.prompt_snapshots(256, 0, 0) == (128, 192), "never at the end itself"
    assert policy.prompt_snapshots(64, 0, 0) == ()


def test_restoring_below_keeps_a_block_before_each_point_too() -> None:
    assert layout(restore="below").prompt_snapshots(300, 140, 0) == (64, 128, 192, 256)
    assert layout().prompt_snapshots(300, 140, 0) == (128, 256)


def test_restoring_below_on_a_grid_keeps_the_cut_before_each_point_too() -> None:
    policy = NativeLayout(0, NativeConfig(restore="below", grid=256, fine_grid=64))
    assert policy.prompt_snapshots(250, 130, 0) == (64, 128, 192)
    assert policy.prompt_snapshots(700, 300, 0) == (256, 512, 576, 640)


def test_a_match_inside_a_block_is_a_junction_at_the_block() -> None:
    assert 192 in layout(kv="reuse", match_unit=1).prompt_snapshots(700, 0, 200)


@given(LENGTHS, st.integers(0, 3000), st.integers(1, 600))
def test_without_switches_it_is_the_exact_layout(prompt: int, hint: int, budget: int) -> None:
    plain, exact = layout(), Layout(256)
    assert ends(plain, prompt, budget=budget) == ends(exact, prompt, budget=budget)
    assert plain.prompt_snapshots(prompt, hint, 0) == exact.prompt_snapshots(prompt, hint, 0)
    assert plain.published_of_prompt(prompt, prompt) == exact.published_of_prompt(prompt, prompt)
    assert plain.published_at_the_end(prompt + 9, prompt) == exact.published_at_the_end(prompt + 9, prompt)
    assert plain.keys((1, 2), 64, prompt) == exact.keys((1, 2), 64, prompt) == (1, 2)


@given(LENGTHS, GRIDS, st.integers(0, 3000))
def test_snapshots_on_a_grid_are_cuts_and_published(prompt: int, grid: tuple[int, int], hint: int) -> None:
    policy = layout(grid=grid[0], fine_grid=grid[1])
    points, cuts = policy.prompt_snapshots(prompt, hint, 0), ends(policy, prompt)[:-1]
    assert set(points) <= set(cuts)
    assert set(cuts[-2:]) <= set(points)
    assert all(point <= policy.published_of_prompt(prompt, prompt) for point in points)


@given(LENGTHS, LENGTHS, GRIDS)
def test_what_may_be_restored_on_a_grid_was_computed_by_the_passes_that_a_cold_prefill_makes(
    before: int, prompt: int, grid: tuple[int, int]
) -> None:
    """Blocks below a shared snapshot have the same keys only if the same passes make them."""
    policy = layout(grid=grid[0], fine_grid=grid[1])
    tokens = tuple(range(1, max(before, prompt) + 1))
    for point in policy.prompt_snapshots(before, 0, 0):
        same = policy.keys(tokens[:point], 0, before) == policy.keys(tokens[:point], 0, prompt)
        if point < prompt and same and policy.may_restore(point, point, prompt):
            mine = [end for end in ends(policy, prompt) if end <= point]
            theirs = [end for end in ends(policy, before) if end <= point]
            assert mine == theirs and mine[-1] == point
            assert ends(policy, prompt, start=point) == [end for end in ends(policy, prompt) if end > point]


def test_a_prompt_in_the_same_last_stretch_may_use_fine_snapshots_and_a_longer_one_may_not() -> None:
    policy = layout(grid=256, fine_grid=64)
    assert policy.may_restore(192, 192, 250)
    assert not policy.may_restore(192, 192, 300)
    assert policy.may_restore(256, 256, 300)
    tokens = tuple(range(256))
    assert policy.keys(tokens, 0, 250) != policy.keys(tokens, 0, 300)
    assert policy.keys(tokens, 0, 300) == tokens, "coarse passes"
    assert policy.keys(tokens, 64, 300)[:192] == tokens[:192]
    assert policy.keys(tokens, 64, 300)[192:] == tuple(-1 - token for token in tokens[192:]), "the last stretch"


def test_nothing_generated_is_published_on_a_grid() -> None:
    assert layout(grid=256).published_at_the_end(900, 700) == 0
    assert layout().published_at_the_end(900, 700) == 896
