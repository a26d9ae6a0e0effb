"""The batteries have the shape that was promised, and the second turn is built from what was recorded."""

import json
from pathlib import Path

import pytest

from isotherm.core.errors import ConfigError
from isotherm.gate.answer import Answer, ToolCall
from isotherm.gate.battery import BATTERIES, expand, ordered_slots
from isotherm.gate.case import Case, ToolResult, ToolResults, UserTurn, load_battery
from isotherm.gate.conversation import answered_calls, request_body

QUESTION = {"role": "user", "content": "How cold is it?"}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}


def test_battery_a_has_23_cases_and_26_responses_with_one_negative_temperature() -> None:
    cases = load_battery("a")
    assert (len(cases), sum(case.turns for case in cases)) == (23, 26)
    trips = [case for case in cases if case.follow_ups]
    assert len(trips) == 3
    results = [result for case in trips for turn in case.follow_ups for result in turn.results]
    assert [json.loads(r.content)["temperature"] < 0 for r in results if r.name == "get_weather"] == [True]


def test_battery_b_has_12_cases_and_24_responses_behind_one_long_preamble() -> None:
    cases = load_battery("b")
    assert (len(cases), sum(case.turns for case in cases)) == (12, 24)
    assert len({(case.messages[0]["content"], json.dumps(case.tools)) for case in cases}) == 1
    assert cases[0].messages[0]["role"] == "system" and len(cases[0].messages[0]["content"]) > 4000


def test_every_result_answers_a_tool_that_the_case_offers() -> None:
    for case in load_battery("a") + load_battery("b"):
        offered = {tool["function"]["name"] for tool in case.tools}
        assert offered and all(result.name in offered for turn in case.follow_ups for result in turn.results), case.id


def test_all_first_turns_are_sent_before_any_second_turn() -> None:
    turns = [slot.turn for slot in ordered_slots(("a",))]
    assert turns == [0] * 23 + [1] * 3


def test_each_recorded_call_gets_the_result_of_its_tool() -> None:
    results = ToolResults((ToolResult("get_time", "noon"), ToolResult("get_weather", "-4")))
    case = Case("one", (QUESTION,), (TOOL,), (results,))
    calls = (ToolCall("get_weather", '{"city":"Oslo"}'), ToolCall("get_time", "{}"), ToolCall("other", "{}"))
    messages = request_body(case, (Answer(text="Let me see.", tool_calls=calls),))["messages"]
    assert messages[1]["content"] == "Let me see."
    assert messages[1]["tool_calls"][0]["function"] == {"name": "get_weather", "arguments": '{"city":"Oslo"}'}
    assert [message["content"] for message in messages[2:]] == ["-4", "noon", "-4"]
    assert [m["tool_call_id"] for m in messages[2:]] == [call["id"] for call in messages[1]["tool_calls"]]


def test_when_the_recorded_answer_called_nothing_the_user_tells_the_result() -> None:
    case = Case("one", (QUESTION,), (TOOL,), (ToolResults((ToolResult("get_weather", "-4"),)),))
    messages = request_body(case, (Answer(text="It is cold."),))["messages"]
    assert messages[1:] == [
        {"role": "assistant", "content": "It is cold."},
        {"role": "user", "content": "The result of get_weather is: -4"},
    ]


def test_every_request_is_greedy_streamed_and_asks_for_ids_and_twenty_logprobs() -> None:
    body = request_body(Case("one", (QUESTION,), (), params=(("max_tokens", 7),)), ())
    assert body["temperature"] == 0 and body["stream"] and body["return_token_ids"]
    assert body["logprobs"] is True and body["top_logprobs"] == 20
    assert body["max_tokens"] == 7 and "tools" not in body


def test_a_case_that_cannot_be_read_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"id": "one", "messages": []}\n{"id": "two"}\n')
    with pytest.raises(ConfigError, match=r"mine\.jsonl, line 2: KeyError: 'messages'"):
        load_battery(str(path))
    with pytest.raises(ConfigError, match=r"'nothing' is neither ours \(a, agent, b.*\) nor a file"):
        load_battery("nothing")


def test_calls_with_results_are_those_that_an_answer_must_not_repeat() -> None:
    call = ToolCall("get_weather", '{"city":"Oslo"}')
    follow_ups = (ToolResults((ToolResult("get_weather", "-4"),)), UserTurn("And in Rome?"))
    case = Case("one", (QUESTION,), (TOOL,), follow_ups)
    first, answer = Answer(tool_calls=(call,)), Answer(text="-4")
    assert answered_calls(request_body(case, ())) == ()
    assert answered_calls(request_body(case, (first,))) == (call,)
    assert answered_calls(request_body(case, (first, answer))) == ()


def test_repro_is_two_requests_of_which_the_second_must_not_repeat_its_call() -> None:
    plant, trip = load_battery("repro")
    assert (plant.turns, trip.turns) == (1, 1)
    assert plant.messages[0] == trip.messages[0] and plant.tools == trip.tools and plant.messages[1] != trip.messages[1]
    (call,) = answered_calls(request_body(trip, ()))
    assert json.loads(call.arguments)["city"] in trip.messages[1]["content"]
    expectation = trip.expectation(0)
    assert expectation is not None and expectation.no_call and expectation.contains


def test_battery_c_asks_documents_of_8_and_30_thousand_tokens_at_three_depths_and_goes_on() -> None:
    cases = load_battery("c")
    assert len(cases) == 6 and all(case.turns >= 2 for case in cases)
    documents = {case.messages[0]["content"] for case in cases}
    assert len(documents) == 2
    for case in cases:
        document, first = case.messages[0]["content"], case.expectation(0)
        assert first is not None and first.contains
        place = document.index(first.contains[0]) / len(document)
        assert any(abs(place - depth) < 0.05 for depth in (0.1, 0.5, 0.9)), (case.id, place)


def test_every_response_of_our_batteries_has_an_expectation() -> None:
    for name in BATTERIES:
        for case in load_battery(name):
            assert all(case.expectation(turn) is not None for turn in range(case.turns)), case.id


def test_all_stands_for_every_battery_of_ours_once() -> None:
    assert expand(("a", "all")) == ("a", "b", "c", "repro")
    ids = [slot.case.id for slot in ordered_slots(("all",)) if slot.turn == 0]
    assert len(ids) == len(set(ids)) == 23 + 12 + 6 + 2


def test_two_cases_with_one_id_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"id": "a-weather", "messages": [QUESTION]}))
    with pytest.raises(ConfigError, match="a-weather"):
        ordered_slots(("a", str(path)))


@pytest.mark.parametrize("expect", [[{"cals": []}], [{"contains": "x"}], ["x"]])
def test_an_expectation_that_cannot_be_read_is_an_error_with_its_line(expect: list[object], tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"id": "one", "messages": [QUESTION], "expect": expect}))
    with pytest.raises(ConfigError, match="line 1"):
        load_battery(str(path))


def test_battery_a_covers_the_kinds_of_value_and_of_answer() -> None:
    """Strings, numbers, booleans, arrays, nested objects, unicode and emoji; several calls, none, a question, an error."""
    cases = load_battery("a")
    expected = [case.expectation(turn) for case in cases for turn in range(case.turns)]
    calls = [call for e in expected if e and e.calls for call in e.calls]
    values = [value for call in calls for value in call.arguments.values()]
    assert {type(value) for value in values} == {str, int, float, bool, list, dict}
    assert any(isinstance(value, float) and value < 0 for value in values)
    assert any(isinstance(value, str) and max(map(ord, value)) > 0xFFFF for value in values)
    assert sum(e is not None and len(e.calls or ()) > 1 for e in expected) >= 3
    assert sum(case.expectation(0) is not None and case.expectation(0).no_call for case in cases) >= 2  # type: ignore[union-attr]
    assert any("error" in result.content for case in cases for turn in case.follow_ups for result in turn.results)
    assert len({tool["function"]["name"] for case in cases for tool in case.tools}) >= 15
