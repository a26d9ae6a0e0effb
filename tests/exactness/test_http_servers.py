"""Through HTTP, on the embedded model: the gate takes our server as any other, by command, by URL, and under pressure."""

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from harness import WEATHER_TOOL

from isotherm.gate.arms import FIRST_FORM, REFERENCE
from isotherm.gate.config import GateConfig
from isotherm.gate.plan import ArmOptions
from isotherm.gate.process import free_port, running_server
from isotherm.gate.report import GateReport
from isotherm.gate.request import GateRequest
from isotherm.gate.run import run_gate

SERVE = [sys.executable, "-m", "isotherm", "serve", "--threads", "1", "--max-model-len", "4096"]
OFF, ON = "--no-enable-prefix-caching", "--enable-prefix-caching"
RULES = "You answer questions about the weather. Be brief, and name the city. " * 6


@pytest.fixture(scope="module")
def battery(tmp_path_factory: pytest.TempPathFactory) -> str:
    cases = [
        {
            "id": city,
            "messages": [
                {"role": "system", "content": RULES},
                {"role": "user", "content": f"How warm is it in {city}?"},
            ],
            "tools": [WEATHER_TOOL],
            "follow_ups": [[{"name": "get_weather", "content": '{"temperature_c": -4}'}]] if city == "Oslo" else [],
            "params": {"max_tokens": 12},
        }
        for city in ("Oslo", "Lima", "Cairo")
    ]
    path = tmp_path_factory.mktemp("battery") / "small.jsonl"
    path.write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    return str(path)


def gate(battery: str, arms: ArmOptions) -> GateReport:
    name = "isotherm-embedded" if arms.off else ""
    return run_gate(GateRequest(arms, battery=battery, model_name=name).config())


def command(flag: str) -> str:
    return shlex.join([*SERVE, "--port", "{port}", flag])


def test_our_server_by_command_passes_and_its_policy_is_checked(battery: str) -> None:
    report = gate(battery, ArmOptions(off_cmd=command(OFF), on_cmd=command(ON)))
    assert [(result.arm.name, result.verdict) for result in report.arms] == [
        ("off", "pass"),
        ("off again", "pass"),
        ("on", "pass"),
    ]
    on = report.arms[2]
    assert report.exit_code == 0 and report.not_compared == ()
    assert on.cached_tokens == on.expected_cached_tokens and on.hits >= 3
    assert report.model == "isotherm-embedded" and report.build["id"]


def test_our_server_by_url_passes_but_is_not_fresh_and_swapped_it_is_caught(battery: str, tmp_path: Path) -> None:
    off_port, on_port = free_port(), free_port()
    off_command, on_command = ([*SERVE, "--port", str(port), flag] for port, flag in ((off_port, OFF), (on_port, ON)))
    with (
        running_server(off_command, off_port, tmp_path / "off", 120.0) as off,
        running_server(on_command, on_port, tmp_path / "on", 120.0) as on,
    ):
        report = gate(battery, ArmOptions(off=off, on=on + "/v1", repeat=2))
        swapped = gate(battery, ArmOptions(off=on, on=off))
    assert [result.verdict for result in report.arms] == ["pass"] * 3 and report.exit_code == 0
    assert report.arms[2].hits >= 7 and report.arms[2].expected_cached_tokens is None
    assert sum("was not restarted" in line for line in report.not_compared) == 3
    assert swapped.exit_code == 2 and "prefix_caching is True" in str(swapped.arms[0].error)


def test_fillers_evict_and_no_answer_changes(battery: str) -> None:
    on = next(arm for arm in FIRST_FORM if arm.caching)
    arms = (REFERENCE, replace(on, name="pressed", pressure=3))
    serve_args = ("--threads", "1", "--max-model-len", "4096", "--kv-cache-memory-bytes", "48M")
    report = run_gate(GateConfig(batteries=(battery,), arms=arms, serve_args=serve_args))
    assert [result.verdict for result in report.arms] == ["pass", "pass"]
    pressed = report.arms[1]
    assert pressed.expected_hits == 3 and pressed.hits == 2, "the second turn's prefix is gone"
    assert (pressed.cached_tokens or 0) < (pressed.expected_cached_tokens or 0)
