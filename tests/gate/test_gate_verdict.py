"""Which verdict a response gets, which an arm, and when a run fails."""

from dataclasses import replace
from typing import get_args

import pytest
from sample_report import FORECAST, WEATHER, answer, arm_result, depart, flip, reference_answers

from isotherm.gate.answer import Answer, ToolCall
from isotherm.gate.arms import Arm
from isotherm.gate.capabilities import Capabilities
from isotherm.gate.compare import compare
from isotherm.gate.report import GateReport
from isotherm.gate.result import ArmResult
from isotherm.gate.verdict import GRAVITY, ArmVerdict, ResponseVerdict, same_call

KNOWN = answer("It is cold.")
CALLED = answer("", (WEATHER,))
REORDERED = ToolCall("get_forecast", '{"days": 3.0, "city": "Bergen"}')
NOTHING = Capabilities(token_ids=False, prompt_ids=False, logprobs=False, cached_tokens=False)
BARE = replace(KNOWN, token_ids=(), prompt_ids=(), scores=(), cached_tokens=None, completion_tokens=0)


def test_the_verdicts_are_all_there_in_the_order_of_their_gravity() -> None:
    assert get_args(ResponseVerdict) == GRAVITY


def test_a_call_is_the_same_when_its_arguments_are_the_same_json_whatever_their_bytes() -> None:
    assert same_call(FORECAST, REORDERED)
    assert not same_call(FORECAST, replace(FORECAST, name="other"))
    assert not same_call(ToolCall("f", '{"x": 1}'), ToolCall("f", '{"x": true}'))
    assert not same_call(ToolCall("f", "{cut"), ToolCall("f", '{"cut": 1}'))
    assert same_call(ToolCall("f", "{cut"), ToolCall("f", "{cut"))


def test_a_call_that_was_answered_and_is_made_again_is_a_repetition() -> None:
    again = answer("", (REORDERED,))
    assert compare(KNOWN, again, previous_calls=(FORECAST,)).verdict == "repeats the call"
    both = answer("", (ToolCall("other", "{}"), REORDERED))
    assert compare(KNOWN, both, previous_calls=(WEATHER, FORECAST)).verdict == "repeats the call"


def test_it_is_none_when_the_call_is_new_or_nothing_was_answered_or_the_reference_repeats_it_too() -> None:
    again = answer("", (FORECAST,))
    assert compare(KNOWN, again, previous_calls=(WEATHER,)).verdict == "tool arguments differ"
    assert compare(KNOWN, again).verdict == "tool arguments differ"
    assert compare(again, again, previous_calls=(FORECAST,)).verdict == "equal"
    assert compare(again, answer("", (REORDERED,)), previous_calls=(FORECAST,)).verdict == "tool arguments differ"


@pytest.mark.parametrize(
    ("calls", "verdict"),
    [
        ((WEATHER, WEATHER), "tool arguments differ"),
        ((), "tool arguments differ"),
        ((replace(WEATHER, arguments='{"city":"Yakutsk"}'),), "tool arguments differ"),
        ((replace(WEATHER, arguments='{"city": "Yak'),), "tool arguments differ"),
        ((WEATHER,), "equal"),
    ],
)
def test_calls_are_compared_by_their_raw_bytes(calls: tuple[ToolCall, ...], verdict: str) -> None:
    assert compare(CALLED, replace(CALLED, tool_calls=calls)).verdict == verdict


def test_the_gravest_of_several_differences_is_the_verdict() -> None:
    other = replace(KNOWN, text="It is warm.", tool_calls=(WEATHER,), token_ids=(1,) * 48)
    assert compare(KNOWN, other).verdict == "tool arguments differ"
    assert compare(KNOWN, replace(other, tool_calls=())).verdict == "wording differs"
    assert compare(KNOWN, replace(other, scores=())).verdict == "missing"
    assert compare(KNOWN, Answer(error="boom")).verdict == "error"


def test_what_the_server_cannot_give_is_not_missed_and_what_it_can_give_is() -> None:
    assert compare(BARE, BARE, NOTHING).verdict == "equal"
    assert compare(BARE, BARE).verdict == "missing"
    assert compare(KNOWN, replace(KNOWN, cached_tokens=None)).verdict == "missing"
    assert compare(KNOWN, replace(KNOWN, cached_tokens=None), replace(NOTHING, logprobs=True)).verdict == "equal"


def test_without_token_ids_as_many_log_probabilities_are_wanted_as_the_reference_had_for_the_same_text() -> None:
    can = replace(NOTHING, logprobs=True)
    known = replace(KNOWN, token_ids=())
    assert compare(known, known, can).verdict == "equal"
    assert compare(known, replace(known, scores=known.scores[1:]), can).verdict == "missing"
    assert compare(known, replace(known, text="Cold", scores=known.scores[:9]), can).verdict == "wording differs"
    bit = flip(KNOWN, 7)
    assert compare(known, replace(bit, token_ids=()), can).verdict == "bits differ"


def test_the_first_differing_token_is_that_of_ids_or_scores_whichever_is_earlier() -> None:
    assert compare(KNOWN, flip(KNOWN, 12)).first_token == 12
    assert compare(KNOWN, flip(depart(KNOWN, 20, "x"), 4)).first_token == 4
    assert compare(KNOWN, KNOWN).first_token is None
    assert compare(BARE, replace(BARE, text="x"), NOTHING).first_token is None


def arm(**settings: object) -> Arm:
    return Arm("x", "", **settings)  # type: ignore[arg-type]


def ran(setting: Arm, place: int | None = None, **more: object) -> ArmResult:
    """An arm in which one answer differs in a bit at `place`, or none does."""
    answers = reference_answers()
    if place is not None:
        answers["a-stock", 1] = flip(answers["a-stock", 1], place)
    return arm_result(setting, answers, **more)


@pytest.mark.parametrize(
    ("result", "verdict", "exit_code"),
    [
        (ran(arm()), "pass", 0),
        (ran(arm(), 3), "differs", 1),
        (ran(arm(may_differ=True), 3), "differs", 0),
        (ran(arm(may_differ=True)), "pass", 0),
        (ran(arm(may_differ=True, must_differ_bits=True), 3), "differs", 0),
        (ran(arm(must_differ_bits=True)), "must differ", 1),
        (ran(arm(), error="it did not start"), "error", 2),
        (ran(arm(may_differ=True), 3, error="it died"), "error", 2),
        (ran(arm(caching=True)), "pass", 0),
        (ran(arm(caching=True), checksums=(7, 7)), "pass", 0),
        (ran(arm(caching=True), checksums=(6, 7)), "checksums", 1),
        (ran(arm(may_differ=True), 3, checksums=(6, 7)), "differs", 1),
    ],
)
def test_an_arm_fails_the_run_unless_all_that_it_shows_is_what_it_may_show(
    result: ArmResult, verdict: ArmVerdict, exit_code: int
) -> None:
    assert (result.verdict, result.exit_code) == (verdict, exit_code)
    report = GateReport((ran(Arm("off", "")), result), ("off", "x"), ("a",))
    assert report.exit_code == exit_code and report.passed == (exit_code == 0)


def told(result: ArmResult, cached: int | None, expected: int | None = None) -> ArmResult:
    """The arm as if its server had said that every response took `cached` tokens from the cache."""
    rows = tuple(
        replace(r, answer=replace(r.answer, cached_tokens=cached), expected_cached_tokens=expected)
        for r in result.responses
    )
    return replace(result, responses=rows)


def test_caching_that_takes_nothing_from_the_cache_tested_nothing_unless_none_is_expected_or_told() -> None:
    on = ran(arm(caching=True))
    assert told(on, 0).verdict == "no hits" and told(on, 0).exit_code == 1
    assert told(on, None).verdict == "pass"
    assert told(on, 64).verdict == "pass" and told(on, 64).expected_cached_tokens is None
    assert told(ran(arm()), 0).verdict == "pass"
    assert told(ran(arm(caching=True, may_differ=True), 3), 0).exit_code == 1


def test_reach_is_exact_where_the_policy_is_known() -> None:
    on = ran(arm(caching=True))
    assert told(on, 64, 64).verdict == "pass"
    assert told(on, 64, 128).verdict == "reach" and len(told(on, 64, 128).unreached) == len(on.responses)
    assert told(on, 0, 0).verdict == "no hits"


def test_a_difference_that_the_twin_shows_too_is_not_charged_to_the_arm() -> None:
    result = ran(arm(concurrency=8), 3)
    excused = replace(result, responses=tuple(replace(r, twin_differs=True) for r in result.responses))
    assert (excused.verdict, excused.exit_code) == ("twin differs", 0)
    assert excused.count("bits") == 1


def test_meets_counts_the_answers_of_which_something_is_asked() -> None:
    answers = reference_answers()
    answers["a-timer", 1] = answer("It is warm.")
    assert arm_result(arm(), answers).meets == (17, 18)


def test_a_run_that_was_not_completed_has_not_passed() -> None:
    green = ran(Arm("off", ""))
    assert GateReport((green,), ("off", "x"), ("a",)).exit_code == 2
    assert GateReport((green,), ("off",), ("a",), error="why", deterministic=False).exit_code == 1


def test_cold_times_are_those_of_the_same_requests_where_nothing_was_cached() -> None:
    on = ran(arm(caching=True))
    assert on.ttft_warm is not None and on.ttft_cold is not None and on.ttft_warm.count == on.ttft_cold.count == on.hits
    assert on.ttft_cold.p50 > 5 * on.ttft_warm.p50
    off = ran(arm())
    assert off.ttft_warm is None and off.ttft_cold == off.ttft
