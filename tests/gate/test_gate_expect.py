"""What an answer must be: met, or the reason in words."""

import pytest

from isotherm.gate.answer import Answer, ToolCall
from isotherm.gate.expect import Expectation, read_expectation, same_json, unmet

WEATHER = {"calls": [{"name": "get_weather", "arguments": {"city": "Tromsø", "days": 3}}]}


def called(*calls: tuple[str, str], text: str = "") -> Answer:
    return Answer(text=text, tool_calls=tuple(ToolCall(name, arguments) for name, arguments in calls))


def test_a_call_is_met_whatever_the_order_and_spelling_of_its_arguments() -> None:
    expectation = read_expectation(WEATHER)
    assert unmet(expectation, called(("get_weather", '{"days": 3.0, "city": "Troms\\u00f8"}'))) is None


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (called(), "no call"),
        (called(("get_weather", '{"city": "Oslo", "days": 3}')), "expected get_weather"),
        (called(("get_weather", '{"city": "Tromsø"}')), "expected get_weather"),
        (called(("get_weather", '{"city": "Tromsø", "days": "3"}')), "expected get_weather"),
        (called(("get_weather", '{"city": "Tromsø", "days": 3, "unit": "celsius"}')), "expected get_weather"),
        (called(("get_forecast", '{"city": "Tromsø", "days": 3}')), "expected get_weather"),
        (called(("get_weather", '{"city": "Tromsø", "days": 3')), "expected get_weather"),
        (called(("get_weather", '{"city": "Tromsø", "days": 3}'), ("get_time", "{}")), "get_time({}) as well"),
        (called(*[("get_weather", '{"city": "Tromsø", "days": 3}')] * 2), "as well"),
        (Answer(error="HTTP 500"), "HTTP 500"),
    ],
)
def test_a_call_that_is_not_the_one_expected_is_named(answer: Answer, reason: str) -> None:
    assert reason in (unmet(read_expectation(WEATHER), answer) or "")


def test_parallel_calls_may_come_in_any_order() -> None:
    record = {"calls": [{"name": "f", "arguments": {"x": 1}}, {"name": "f", "arguments": {"x": 2}}]}
    assert unmet(read_expectation(record), called(("f", '{"x": 2}'), ("f", '{"x": 1}'))) is None
    assert unmet(read_expectation(record), called(("f", '{"x": 2}'), ("f", '{"x": 2}'))) is not None


def test_an_answer_must_hold_its_values_and_call_nothing() -> None:
    expectation = read_expectation({"contains": ["-11.5", "Clear Sky"], "lacks": ["warm"]})
    assert unmet(expectation, Answer(text="It is -11.5 degrees with clear sky.")) is None
    assert "'-11.5'" in (unmet(expectation, Answer(text="It is 11.5 degrees with clear sky.")) or "")
    assert "'warm'" in (unmet(expectation, Answer(text="-11.5, clear sky, warm")) or "")
    again = called(("get_weather", "{}"), text="It is -11.5 degrees with clear sky.")
    assert "no call was expected" in (unmet(expectation, again) or "")


def test_an_answer_of_nothing_meets_nothing_that_asks_for_an_answer() -> None:
    assert unmet(read_expectation({"contains": []}), Answer(text=" \n", reasoning="Hm.")) == "the answer is empty"


def test_text_beside_a_call_can_be_checked_as_well() -> None:
    expectation = read_expectation(WEATHER | {"contains": ["look"]})
    call = ("get_weather", '{"city": "Tromsø", "days": 3}')
    assert unmet(expectation, called(call, text="Let me look.")) is None
    assert unmet(expectation, called(call)) == "'look' is not in the answer"


def test_an_empty_expectation_of_calls_allows_any_text() -> None:
    assert unmet(Expectation(), called(("f", "{}"))) is None


@pytest.mark.parametrize("record", [{"call": []}, {"contains": "text"}, {"contains": [1]}, {"calls": [{"name": "f"}]}])
def test_a_record_that_says_something_else_is_refused(record: dict[str, object]) -> None:
    with pytest.raises((ValueError, KeyError)):
        read_expectation(record)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}, True),
        ([1, 2], [2, 1], False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ("1", 1, False),
        (None, False, False),
    ],
)
def test_json_values_are_compared_as_json(left: object, right: object, same: bool) -> None:
    assert same_json(left, right) is same
