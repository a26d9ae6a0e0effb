"""One request and a few: what is accepted, how it ends, what is reported."""

import pytest
from fake_runner import EOS, POISON
from rig import Rig, alone, request, words

from isotherm.core.errors import ConfigError, QueueFullError, RequestError
from isotherm.core.plan import SampleRow, ScoreRow
from isotherm.scheduler import minimum_blocks, minimum_slots


def test_a_prompt_that_can_never_fit_is_refused_with_its_length_and_the_limit() -> None:
    rig = Rig(max_model_len=128)
    with pytest.raises(RequestError, match=r"^prompt: .*128.*127") as error:
        rig.scheduler.add(request("a", words(128)))
    assert error.value.param == "prompt"
    rig.run(request("b", words(127)))
    assert rig.finish("b") == "length"


def test_an_empty_prompt_is_refused() -> None:
    with pytest.raises(RequestError, match="no tokens"):
        Rig().scheduler.add(request("a", ()))


def test_a_request_id_in_use_is_refused_and_can_be_used_again_afterwards() -> None:
    rig = Rig()
    rig.add(request("a", words(5)))
    with pytest.raises(RequestError, match="'a'"):
        rig.scheduler.add(request("a", words(5)))
    rig.run()
    rig.run(request("a", words(5)))
    assert rig.finish("a") == "length"


def test_a_full_queue_refuses_and_recovers() -> None:
    rig = Rig(waiting=2)
    rig.add(request("a", words(5)), request("b", words(5)))
    with pytest.raises(QueueFullError):
        rig.scheduler.add(request("c", words(5)))
    rig.step()
    rig.run(request("c", words(5)))
    assert rig.finish("c") == "length"


def test_memory_for_less_than_one_full_sequence_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="blocks"):
        Rig(blocks=minimum_blocks(1024) - 1)
    with pytest.raises(ConfigError, match="slots"):
        Rig(slots=1)


def test_max_tokens_and_max_model_len_end_by_length() -> None:
    rig = Rig(max_model_len=100)
    rig.run(request("a", words(90), max_tokens=3), request("b", words(90), max_tokens=None))
    assert (len(rig.tokens("a")), rig.finish("a")) == (3, "length")
    assert (len(rig.tokens("b")), rig.finish("b")) == (10, "length")


def test_a_stop_token_is_the_last_token_and_the_reason() -> None:
    first = alone(request("a", words(30), max_tokens=8))[0]
    assert isinstance(first, tuple)
    rig = Rig()
    rig.run(request("a", words(30), max_tokens=8, stop_token_ids=(first[2],)))
    assert rig.tokens("a") == first[:3]
    assert (rig.finish("a"), rig.outputs["a"][-1].stop_reason) == ("stop", first[2])


def test_min_tokens_ban_the_end_token_from_the_choice() -> None:
    prompt = next(
        p for p in (words(9, seed) for seed in range(2000)) if alone(request("a", p, ignore_eos=False))[0] == (EOS,)
    )
    rig = Rig()
    rig.run(request("a", prompt, ignore_eos=False, min_tokens=3, max_tokens=6))
    assert EOS not in rig.tokens("a")[:3]
    banned = [row.banned for plan in rig.plans for row in plan.segments[0].rows if isinstance(row, SampleRow)]
    assert banned[:4] == [(EOS,), (EOS,), (EOS,), ()][: len(banned)]


def test_fault_20_logprobs_have_one_entry_a_token_the_first_included() -> None:
    rig = Rig()
    rig.run(request("a", words(100), logprobs=2), request("b", words(100)))
    for output in rig.outputs["a"]:
        assert [entry.token for entry in output.logprobs] == list(output.tokens)
        assert all(len(entry.top) == 2 for entry in output.logprobs)
    assert all(not output.logprobs for output in rig.outputs["b"])


@pytest.mark.parametrize("budget", [1, 63, 64, 1000])
def test_prompt_logprobs_are_gathered_over_chunks_and_given_once(budget: int) -> None:
    prompt = words(150)
    rig = Rig(budget=budget)
    rig.run(request("a", prompt, prompt_logprobs=1))
    first, *rest = rig.outputs["a"]
    assert first.prompt_logprobs is not None
    assert [entry.token for entry in first.prompt_logprobs] == list(prompt[1:])
    assert all(output.prompt_logprobs is None for output in rest)
    assert rig.answer("a") == alone(request("a", prompt, prompt_logprobs=1))
    rows = [row for plan in rig.plans for row in plan.segments[0].rows if isinstance(row, ScoreRow)]
    assert len(rows) == len(prompt) - 1


def test_prompt_logprobs_decline_the_cache_and_still_fill_it() -> None:
    rig = Rig()
    prompt = words(150)
    rig.run(request("a", prompt, prompt_logprobs=0))
    rig.run(request("b", prompt, prompt_logprobs=0))
    rig.run(request("c", prompt))
    assert (rig.cached("b"), rig.cached("c")) == (0, 128)
    assert rig.scheduler.stats().declined == {"prompt_logprobs": 2}


def test_history_is_given_only_to_those_who_need_it() -> None:
    rig = Rig()
    rig.run(request("a", words(9), presence_penalty=1.0), request("b", words(9)))
    rows = {(s.sequence, len(p.segments)): s.rows[-1] for p in rig.plans for s in p.segments}
    last = [row for row in rows.values() if isinstance(row, SampleRow)]
    assert {row.prompt for row in last} == {words(9), ()}
    final = rig.plans[-1].segments[0].rows[-1]
    assert isinstance(final, SampleRow) and final.history == rig.tokens("a")[:3]


def test_logits_that_are_not_finite_end_that_request_alone_and_nothing_of_it_stays() -> None:
    rig = Rig(budget=100)
    bad = (*words(200), POISON, *words(30))
    rig.add(request("bad", bad), request("good", words(220, 1), max_tokens=70))
    rig.run()
    output = rig.outputs["bad"][-1]
    assert (output.finish_reason, output.tokens, rig.finish("good")) == ("error", (), "length")
    assert output.error is not None and "finite" in output.error
    assert rig.answer("good") == alone(request("good", words(220, 1), max_tokens=70))
    rig.run(request("again", words(200) + words(9, 5)))
    assert rig.cached("again") == 0


def test_what_others_hold_survives_a_request_that_fails() -> None:
    rig = Rig()
    shared = words(128)
    rig.run(request("plant", shared))
    rig.add(request("good", shared + words(9, 3), max_tokens=40))
    rig.step()
    rig.run(request("bad", (*shared, POISON)))
    assert (rig.finish("bad"), rig.finish("good")) == ("error", "length")
    assert rig.answer("good") == alone(request("good", shared + words(9, 3), max_tokens=40))


def test_counters_tell_matched_restored_and_declined_apart() -> None:
    rig = Rig()
    shared = words(192)
    rig.run(request("a", shared + words(30, 1)))
    rig.run(request("b", shared[:128] + words(100, 2)))
    rig.run(request("c", shared[:128] + words(100, 3)))
    rig.run(request("d", words(64)))
    rig.run(request("e", shared, skip_reading_prefix_cache=True))
    stats = rig.scheduler.stats()
    assert (stats.matched, stats.restored) == (2, 1)
    assert stats.declined == {"no_match": 1, "no_snapshot": 1, "too_short": 1, "opted_out": 1}
    assert (stats.cache_hits, stats.cache_queries) == (128, 222 + 228 + 228 + 64)
    assert stats.prompt_tokens == 222 + 228 + 228 + 64 + 192
    assert stats.generation_tokens == 20
    assert [rig.outputs[name][0].matched_tokens for name in "abcde"] == [0, 128, 128, 0, 0]


def test_caching_off_looks_nothing_up_publishes_nothing_and_answers_the_same() -> None:
    rig = Rig(caching=False)
    asked = request("a", words(300), max_tokens=70)
    rig.run(asked)
    rig.run(request("b", words(300), max_tokens=70))
    stats = rig.scheduler.stats()
    assert (rig.cached("b"), stats.declined, stats.cache_queries) == (0, {"disabled": 2}, 0)
    assert (stats.blocks_used, stats.slots_used) == (0, 0)
    assert rig.answer("a")[0] == rig.answer("b")[0]
    assert not [s for p in rig.plans for s in p.segments if len(s.writes) > 1], "no optional snapshot is written"


def test_scheduling_twice_without_completing_is_an_error() -> None:
    rig = Rig()
    rig.add(request("a", words(9)))
    plan = rig.scheduler.schedule()
    assert plan is not None
    with pytest.raises(RuntimeError, match="not been completed"):
        rig.scheduler.schedule()


def test_limits_are_one_full_sequence_of_blocks_and_one_spare_slot() -> None:
    assert (minimum_blocks(64), minimum_blocks(65)) == (1, 2)
    assert minimum_slots(16) == 17
