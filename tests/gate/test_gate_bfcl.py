"""Cases of the bfcl-eval package, read from a folder laid out like the package's data."""

import json
from pathlib import Path

import pytest

from isotherm.core.errors import ConfigError
from isotherm.gate import bfcl
from isotherm.gate.answer import Answer, ToolCall
from isotherm.gate.battery import cases_of
from isotherm.gate.bfcl import load_bfcl
from isotherm.gate.case import Case, ToolResults, UserTurn
from isotherm.gate.conversation import request_body

DATA = Path(__file__).parent / "bfcl_data"


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    return {case.id: case for case in load_bfcl(data=DATA)}


def test_every_category_is_read_from_the_newest_version(cases: dict[str, Case]) -> None:
    assert len(cases) == 4 * 3 + 1
    assert cases["bfcl-parallel_1"].messages == ({"role": "user", "content": "Set both lamps, v4 1."},)
    assert cases["bfcl-live_parallel_multiple_2"].turns == 1


def test_schemas_become_json_schema_with_names_that_servers_take(cases: dict[str, Case]) -> None:
    function = cases["bfcl-parallel_0"].tools[0]["function"]
    assert function["name"] == "lamp_set_level"
    assert function["parameters"] == {
        "type": "object",
        "properties": {
            "room": {"type": "string", "description": "Which room."},
            "level": {"type": "number", "description": "From 0 to 1.", "default": 0.5},
            "colours": {
                "type": "array",
                "items": {"type": "object", "properties": {"red": {"type": "integer"}, "type": {}}},
            },
            "range": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["room"],
    }


def test_a_multi_turn_case_goes_on_with_results_and_then_the_next_question(cases: dict[str, Case]) -> None:
    case = cases["bfcl-multi_turn_base_0"]
    assert [tool["function"]["name"] for tool in case.tools] == ["ls", "post_tweet"]
    first, second, third, last = case.follow_ups
    assert isinstance(first, ToolResults) and [result.name for result in first.results] == ["ls"]
    assert {k: type(v) for k, v in json.loads(first.results[0].content).items()} == {"files": list, "count": int}
    assert (second, third) == (UserTurn("Thanks, that is all."), UserTurn("Now post it twice."))
    assert isinstance(last, ToolResults) and [result.name for result in last.results] == ["post_tweet"] * 2


def test_a_question_after_calls_that_have_no_result_sees_them_refused(cases: dict[str, Case]) -> None:
    case = cases["bfcl-multi_turn_base_0"]
    call = Answer(tool_calls=(ToolCall("ls", '{"a": true}'),))
    messages = request_body(case, (call, call))["messages"]
    roles = [message["role"] for message in messages]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "user"]
    assert "not available" in messages[4]["content"] and messages[5]["content"] == "Thanks, that is all."


def test_a_limit_takes_so_many_cases_of_each_category() -> None:
    assert len(load_bfcl(2, DATA)) == 4 * 2 + 1


def test_without_the_package_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bfcl, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="pip install bfcl-eval"):
        cases_of("bfcl")


def test_a_number_of_cases_must_be_one() -> None:
    with pytest.raises(ConfigError, match="after bfcl:"):
        cases_of("bfcl:many")


def test_files_in_another_layout_are_an_error_that_says_where(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="BFCL_v"):
        load_bfcl(data=tmp_path)
    (tmp_path / "BFCL_v9_parallel.json").write_text('{"id": "x", "prompt": "y"}\n')
    with pytest.raises(ConfigError, match="KeyError"):
        load_bfcl(data=tmp_path)
