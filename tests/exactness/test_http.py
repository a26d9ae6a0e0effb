"""Through HTTP, on the embedded model: the gate against our own server, in small."""

import json

import pytest
from harness import WEATHER_TOOL

from isotherm.gate.arms import FIRST_FORM, budget_arms
from isotherm.gate.config import GateConfig
from isotherm.gate.report import GateReport
from isotherm.gate.run import run_gate

RULES = "You answer questions about the weather. Be brief, and name the city. " * 12


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> GateReport:
    battery = tmp_path_factory.mktemp("battery") / "small.jsonl"
    battery.write_text("\n".join(json.dumps(case) for case in _cases()), encoding="utf-8")
    return run_gate(GateConfig(batteries=(str(battery),), arms=FIRST_FORM + budget_arms(64)))


def _cases() -> list[dict[str, object]]:
    system = {"role": "system", "content": RULES}
    cases = [
        {"id": f"c{i}", "messages": [system, {"role": "user", "content": f"What is the weather in {city}?"}]}
        for i, city in enumerate(("Oslo", "Lima", "Cairo", "Pune", "Quito", "Turin", "Bergen", "Accra", "Kyoto"))
    ]
    result = json.dumps({"temperature_c": -4, "conditions": "snow"})
    for case in cases:
        case["tools"] = [WEATHER_TOOL]
        case["params"] = {"max_tokens": 40}
    for case in cases[:3]:
        case["follow_ups"] = [[{"name": "get_weather", "content": result}]]
    return cases


def test_every_arm_of_the_gate_gives_the_same_bits_and_the_computed_hits(report: GateReport) -> None:
    assert report.error is None
    assert {result.arm.name: result.verdict for result in report.arms} == dict.fromkeys(report.planned, "pass")
    assert report.exit_code == 0


@pytest.mark.parametrize("arm", ["on", "on-8", "on-64t"])
def test_the_cache_was_reached(report: GateReport, arm: str) -> None:
    result = next(result for result in report.arms if result.arm.name == arm)
    assert result.hits == result.expected_hits >= 10
    assert result.cached_tokens == result.expected_cached_tokens > 1000


def test_a_second_turn_hits_beyond_its_first_prompt(report: GateReport) -> None:
    """The generated tokens of the first answer are among those skipped, or the whole of its prompt at least."""
    on = next(result for result in report.arms if result.arm.name == "on")
    turns = [response for response in on.responses if response.turn == 1]
    firsts = {response.case: response for response in on.responses if response.turn == 0}
    assert turns
    for response in turns:
        assert response.answer.cached_tokens >= len(firsts[response.case].answer.prompt_ids) // 64 * 64


def test_the_record_is_what_scripts_read(report: GateReport) -> None:
    record = json.loads(json.dumps(report.to_record()))
    assert record["pass"] is True and record["build"]["id"]
    fields = {"name", "responses", "text_differs", "bits_differ", "cached_tokens", "expected_cached_tokens"}
    assert all(fields | {"hits", "expected_hits", "ttft_ms_p50"} <= set(arm) for arm in record["arms"])
