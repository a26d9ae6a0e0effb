"""Every fault of the scripted server gets its verdict, response by response; none of them passes."""

import json
import sys
from pathlib import Path

import faults
import jsonschema
import pytest
from test_gate_reports import SCHEMA, elements

from isotherm.gate.arms import CONTROL, FIRST_FORM, REFERENCE
from isotherm.gate.config import GateConfig
from isotherm.gate.html import html_page
from isotherm.gate.report import GateReport
from isotherm.gate.run import run_gate

FAKE = Path(__file__).with_name("fake_server.py")
ON = FIRST_FORM[3]
TOOL = {"type": "function", "function": {"name": "ask", "parameters": {"type": "object", "properties": {}}}}

VERDICTS = {
    "bit": ("differs", {"bits differ"}),
    "token": ("differs", {"wording differs", "tool arguments differ"}),
    "text": ("differs", {"wording differs", "tool arguments differ"}),
    "wording": ("differs", {"wording differs"}),
    "drop argument": ("differs", {"tool arguments differ"}),
    "argument order": ("differs", {"tool arguments differ"}),
    "truncated call": ("differs", {"tool arguments differ"}),
    "extra call": ("differs", {"tool arguments differ"}),
    "other tool": ("differs", {"tool arguments differ"}),
    "repeated call": ("differs", {"repeats the call"}),
    "finish": ("differs", {"wording differs"}),
    "first logprob": ("missing", {"missing"}),
    "no ids": ("missing", {"missing"}),
    "silent": ("missing", {"missing"}),
    "lying": ("reach", set()),
    "stingy": ("reach", set()),
    "no reach": ("reach", set()),
}


@pytest.fixture(scope="module")
def battery(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Three cases: a call and its answer, a call alone, and a text; the system message is hit from the second on."""
    cases = []
    for name, follow_ups, tools in [("trip", 1, True), ("call", 0, True), ("text", 0, False)]:
        messages = [{"role": "system", "content": "s" * 150}, {"role": "user", "content": name * 30}]
        results = [[{"name": "ask", "content": f"result of {name}"}]] * follow_ups
        cases.append({"id": name, "messages": messages, "tools": [TOOL] if tools else [], "follow_ups": results})
    cases.append(
        cases[-1] | {"id": "again", "messages": [cases[-1]["messages"][0], {"role": "user", "content": "y" * 99}]}
    )
    path = tmp_path_factory.mktemp("battery") / "faults.jsonl"
    path.write_text("\n".join(map(json.dumps, cases)))
    return str(path)


def gate(battery: str, fault: str, where: str = "hit", timeout: float = 30.0) -> GateReport:
    config = GateConfig(
        batteries=(battery,),
        arms=(REFERENCE, CONTROL, ON),
        serve_command=(sys.executable, str(FAKE)),
        serve_args=("--fault", fault, "--where", where) if fault else (),
        request_timeout_s=timeout,
    )
    return run_gate(config)


def test_the_table_of_verdicts_leaves_no_fault_out() -> None:
    assert VERDICTS.keys() == (faults.CONTENT.keys() | faults.TOKENS.keys()) - {"random token"}


def test_without_a_fault_everything_is_equal_and_there_are_hits_among_calls_texts_and_second_turns(
    battery: str,
) -> None:
    report = gate(battery, "")
    assert report.passed
    hit = {(response.case, response.turn) for response in report.arms[-1].responses if response.hit}
    assert hit == {("trip", 1), ("call", 0), ("again", 0)}


@pytest.mark.parametrize("fault", VERDICTS)
def test_a_fault_on_hits_gets_its_verdict_and_only_hits_get_it(battery: str, fault: str) -> None:
    arm_verdict, expected = VERDICTS[fault]
    report = gate(battery, fault)
    assert [result.verdict for result in report.arms] == ["pass", "pass", arm_verdict] and report.exit_code == 1
    on = report.arms[-1]
    unequal = [response for response in on.responses if response.verdict != "equal"]
    assert {response.verdict for response in unequal} == expected
    assert not {("trip", 0), ("text", 0)} & {(response.case, response.turn) for response in unequal}
    if fault == "repeated call":
        assert [(response.case, response.turn) for response in unequal] == [("trip", 1)]
    if fault == "bit":
        assert {response.comparison.first_token for response in unequal} == {5}
        assert on.text_differs == 0 and on.count("bits") == 3
    if fault == "token":
        assert {response.comparison.first_token for response in unequal} == {3}


@pytest.mark.parametrize(
    ("fault", "told"), [("500", "HTTP 500"), ("cut", "the stream ended early"), ("hang", "Timeout")]
)
def test_a_response_that_does_not_come_is_an_error_in_every_output(battery: str, fault: str, told: str) -> None:
    report = gate(battery, fault, timeout=0.5 if fault == "hang" else 30.0)
    assert report.exit_code == 2 and report.arms[-1].verdict == "error"
    assert told in html_page(report)
    assert [told in (error.get("message") or "") for error in elements(report).iter("error")] == [True] * 3
    jsonschema.validate(report.to_record(), SCHEMA)


def test_nondeterminism_at_rest_ends_the_run_in_every_output(battery: str) -> None:
    report = gate(battery, "random token", "everywhere")
    assert report.exit_code == 1 and not report.deterministic
    assert "this server is not deterministic at rest" in html_page(report)
    root = elements(report)
    assert [case.get("name") for case in root.iter("testcase") if case.find("skipped") is not None] == ["on"]
    jsonschema.validate(report.to_record(), SCHEMA)


def test_an_arm_with_caching_on_that_takes_nothing_from_a_cache_has_tested_nothing(battery: str) -> None:
    report = gate(battery, "no reach")
    assert "no hits" in report.arms[-1].findings and report.exit_code == 1
