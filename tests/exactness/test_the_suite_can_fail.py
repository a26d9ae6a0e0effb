"""Break one rule at a time, and see the exactness checks go red. A suite that cannot fail proves nothing."""

import re
from collections.abc import Callable
from pathlib import Path

import checks
import mutations
import pytest
from harness import Setup

from isotherm.model.tiny import write_tiny


@pytest.fixture(scope="module")
def setups(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Setup]:
    """float32: the last bits of a sum, which rounding to bfloat16 mostly hides, must show."""
    folders = {kind: tmp_path_factory.mktemp(kind) for kind in ("qwen3_next", "qwen4_exp")}
    for kind, folder in folders.items():
        write_tiny(kind, folder, seed=1, drafter=True, vocab_size=512, eos_token_id=511)
    return {kind: Setup(folder, "c", "float32") for kind, folder in folders.items()}


FLASH = [
    (mutations.snapshots_lack_the_ngram_history, checks.a_second_turn_equals_itself_alone),
    (mutations.snapshots_lack_the_history_of_the_ngrams_convolution, checks.a_second_turn_equals_itself_alone),
    (mutations.a_group_is_pooled_from_the_keys_of_one_pass, checks.a_prefill_in_pieces_equals_one),
    (mutations.the_choice_of_keys_follows_the_pass, checks.a_prefill_in_pieces_equals_one),
    (mutations.the_drafters_groups_are_pooled_from_the_keys_of_one_pass, checks.the_drafter_goes_on_after_a_hit),
    (mutations.token_0_is_left_out_in_passes_of_many_rows_alone, checks.short_prompts_are_drafted_for),
]
"""Rules that only Flash-Next has; the check runs on a model of that kind."""

CAUGHT_BY = [
    (mutations.linear_sums_in_another_order_for_one_row, checks.scored_equals_sampled),
    (mutations.norm_changes_its_sum_at_256_rows, checks.batched_equals_alone),
    (mutations.state_is_rounded_to_16_bits_at_a_boundary, checks.warm_equals_cold),
    (mutations.snapshots_lack_the_convolution_history, checks.warm_equals_cold),
    (mutations.keys_are_used_unrounded_in_the_pass_that_makes_them, checks.scored_equals_sampled),
    (mutations.the_last_token_of_a_hit_is_applied_twice, checks.warm_equals_cold),
    (mutations.noise_is_keyed_by_place_in_the_batch, checks.batched_equals_alone),
    (mutations.keys_of_a_full_block_are_published_unwritten, checks.state_is_exact),
    (mutations.the_salt_is_ignored, checks.salts_are_apart),
    (mutations.a_hash_decides, checks.other_tokens_find_nothing),
    (mutations.logits_depend_on_who_else_is_in_the_pass, checks.batched_equals_alone),
    (mutations.a_snapshot_is_kept_under_the_boundary_before_its_own, checks.warm_equals_cold),
    (mutations.a_row_sees_one_key_beyond_its_own, checks.scored_equals_sampled),
    (mutations.a_slot_is_given_away_while_it_is_read, checks.a_tiny_pool_changes_nothing),
    (mutations.ties_are_broken_by_arrival, checks.ties_go_to_the_lower_id),
    (mutations.router_ties_go_to_the_higher_expert, checks.ties_go_to_the_lower_id),
    (mutations.noise_is_keyed_by_rank, checks.noise_belongs_to_the_token),
    (mutations.two_sequences_share_a_lane, checks.a_cancelled_neighbour_changes_nothing),
    (mutations.the_drafters_row_is_not_in_a_snapshot, checks.the_drafter_goes_on_after_a_hit),
    (mutations.a_copy_to_the_host_misses_a_tensor, checks.what_was_evicted_comes_back_from_the_host),
    (mutations.an_id_is_freed_before_its_copy_has_completed, checks.what_was_evicted_comes_back_from_the_host),
    (mutations.a_copy_from_the_host_brings_the_state_of_another, checks.what_was_evicted_comes_back_from_the_host),
    *FLASH,
]


@pytest.mark.parametrize(("fault", "check"), CAUGHT_BY, ids=[fault.__name__ for fault, _ in CAUGHT_BY])
def test_a_broken_rule_is_caught(
    setups: dict[str, Setup],
    monkeypatch: pytest.MonkeyPatch,
    fault: Callable[[pytest.MonkeyPatch], None],
    check: Callable[[Setup], None],
) -> None:
    setup = setups["qwen4_exp" if (fault, check) in FLASH else "qwen3_next"]
    check(setup)
    with monkeypatch.context() as patch:
        patch.setattr("isotherm.runner.runner.MOST_ROWS", 0)  # a recorded pass would not meet a broken method
        fault(patch)
        with pytest.raises((AssertionError, RuntimeError, ValueError)):
            check(setup)


def test_the_table_in_the_docs_is_this_one() -> None:
    page = (Path(__file__).parents[2] / "docs" / "mutations.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `(\w+)` \| .* \| `(\w+)` \|$", page, re.MULTILINE)
    assert told == [(fault.__name__, check.__name__) for fault, check in CAUGHT_BY]
