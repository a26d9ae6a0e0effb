"""The whole gate over HTTP against a scripted server: green when nothing is wrong, and each fault gets its verdict."""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sample_report import printed

from isotherm.gate.arms import CONTROL, FIRST_FORM, REFERENCE, Arm
from isotherm.gate.config import GateConfig
from isotherm.gate.plan import ArmOptions, plan
from isotherm.gate.report import GateReport
from isotherm.gate.result import ArmResult
from isotherm.gate.run import NOT_DETERMINISTIC, run_gate
from isotherm.gate.safe import plain

FAKE = Path(__file__).with_name("fake_server.py")
ON, OFF_8 = FIRST_FORM[3], FIRST_FORM[4]
SHORT = (REFERENCE, CONTROL, ON, OFF_8)
TOOL = {"type": "function", "function": {"name": "ask", "parameters": {"type": "object", "properties": {}}}}


def case(name: str, question: str, follow_ups: int = 0, tools: bool = True) -> dict[str, Any]:
    messages = [{"role": "system", "content": "s" * 150}, {"role": "user", "content": question * 20}]
    results = [[{"name": "ask", "content": f"result {turn} of {name}"}] for turn in range(follow_ups)]
    return {"id": name, "messages": messages, "tools": [TOOL] if tools else [], "follow_ups": results}


@pytest.fixture(scope="module")
def battery(tmp_path_factory: pytest.TempPathFactory) -> str:
    cases = [case("one", "why"), case("two", "how", 1), case("three", "when", 2), case("plain", "who", 1, tools=False)]
    cases += [case(f"more-{letter}", letter * 3) for letter in "defg"]
    path = tmp_path_factory.mktemp("battery") / "small.jsonl"
    path.write_text("\n".join(map(json.dumps, cases)))
    return str(path)


def gate(battery: str, fault: str = "", where: str = "hit", **settings: Any) -> GateReport:
    command = (sys.executable, str(FAKE))
    faults = ("--fault", fault, "--where", where) if fault else ()
    return run_gate(GateConfig(batteries=(battery,), serve_command=command, serve_args=faults, **settings))


def arm(report: GateReport, name: str) -> ArmResult:
    return next(result for result in report.arms if result.arm.name == name)


@dataclass
class Watcher:
    events: list[str] = field(default_factory=list)

    def arm_started(self, arm: Arm, total: int) -> None:
        self.events.append(f"{arm.name} started {total}")

    def answered(self, arm: Arm, done: int) -> None:
        self.events.append(f"{arm.name} {done}")

    def arm_finished(self, result: ArmResult) -> None:
        self.events.append(f"{result.arm.name} finished")


@pytest.fixture(scope="module")
def sound(battery: str) -> tuple[GateReport, Watcher]:
    watcher = Watcher()
    config = GateConfig(
        batteries=(battery,), arms=plan(ArmOptions(full=True)), serve_command=(sys.executable, str(FAKE))
    )
    return run_gate(config, watcher), watcher


def test_a_sound_server_passes_every_arm_with_every_hit_as_computed(sound: tuple[GateReport, Watcher]) -> None:
    report, watcher = sound
    assert report.passed and report.exit_code == 0 and report.logs is None
    assert all(len(result.responses) == 12 for result in report.arms)
    on = arm(report, "on")
    assert on.hits == on.expected_hits >= 8
    assert on.cached_tokens == on.expected_cached_tokens > 0
    assert any(r.turn and r.expected_cached_tokens > 256 for r in on.responses), (
        "a follow-up hits through generated tokens"
    )
    assert arm(report, "on-8").hits >= 8 and on.ttft_cold and on.ttft_warm
    assert watcher.events[0] == "off started 12" and watcher.events[-1] == "on-500t finished"
    assert "on-8 12" in watcher.events


def test_the_json_has_the_documented_fields(sound: tuple[GateReport, Watcher]) -> None:
    record = json.loads(json.dumps(sound[0].to_record()))
    assert record["pass"] is True and record["build"] == {"fake": "1"}
    keys = "name responses text_differs bits_differ cached_tokens expected_cached_tokens hits expected_hits ttft_ms_p50"
    assert all(key in row for row in record["arms"] for key in keys.split())
    assert [row["name"] for row in record["arms"]] == [
        *("off", "off again", "rescored", "on", "off-8", "on-8", "off-64t", "on-64t", "off-500t", "on-500t")
    ]


@pytest.mark.parametrize(
    ("fault", "verdict", "text", "bits"),
    [
        ("token", "differs", True, True),
        ("bit", "differs", False, True),
        ("text", "differs", True, False),
        ("finish", "differs", True, False),
        ("first logprob", "missing", False, False),
        ("lying", "reach", False, False),
        ("stingy", "reach", False, False),
        ("no reach", "reach", False, False),
    ],
)
def test_a_fault_that_shows_on_hits_is_charged_to_the_arms_with_caching_on(
    battery: str, fault: str, verdict: str, text: bool, bits: bool
) -> None:
    report = gate(battery, fault, arms=SHORT)
    assert not report.passed and report.exit_code == 1
    assert [result.verdict for result in report.arms] == ["pass", "pass", verdict, "pass"]
    on = arm(report, "on")
    assert (on.text_differs > 0, on.count("bits") > 0) == (text, bits)
    assert bool(on.unreached) == (verdict == "reach")


def test_a_batching_fault_is_charged_to_the_arms_that_run_eight_at_once(battery: str) -> None:
    report = gate(battery, "bit", "company", arms=SHORT)
    assert [result.verdict for result in report.arms] == ["pass", "pass", "pass", "differs"]


def test_a_scoring_fault_is_charged_to_the_rescored_arm(battery: str) -> None:
    report = gate(battery, "rescored bit", arms=FIRST_FORM[:3])
    assert [result.verdict for result in report.arms] == ["pass", "pass", "differs"]
    assert arm(report, "rescored").count("bits") == 12


def test_nondeterminism_at_rest_ends_the_run_with_the_evidence(battery: str) -> None:
    report = gate(battery, "random token", "everywhere")
    assert report.error == NOT_DETERMINISTIC and not report.deterministic and report.exit_code == 1
    assert [result.arm.name for result in report.arms] == ["off", "off again"]
    shown = printed(report, 200)
    assert NOT_DETERMINISTIC in shown and "not run: rescored, on, off-8, on-8" in shown and "token ids from 3" in shown


def test_a_logprob_that_is_always_missing_is_not_taken_for_equal(battery: str) -> None:
    report = gate(battery, "first logprob", "everywhere", arms=SHORT)
    assert report.exit_code == 1 and not any(
        result.verdict == "pass" for result in report.arms if result.arm.kind == "chat"
    )
    assert arm(report, "on").verdict == "missing"


@pytest.mark.parametrize(
    ("fault", "why"), [("500", "HTTP 500"), ("cut", "the stream ended early"), ("hang", "Timeout")]
)
def test_responses_that_do_not_come_are_errors_and_never_a_pass(battery: str, fault: str, why: str) -> None:
    report = gate(battery, fault, "hit", arms=SHORT, request_timeout_s=0.5 if fault == "hang" else 30.0)
    assert report.exit_code == 2
    assert [result.verdict for result in report.arms] == ["pass", "pass", "error", "pass"]
    assert why in printed(report, 200)


def test_a_reference_that_fails_ends_the_run(battery: str) -> None:
    report = gate(battery, "500", "everywhere")
    assert report.exit_code == 2 and [result.arm.name for result in report.arms] == ["off"]
    assert report.error is not None and "reference" in report.error


def test_a_server_that_does_not_start_is_told_with_its_command_and_log(battery: str) -> None:
    report = gate(battery, "exit")
    assert report.exit_code == 2
    error = report.arms[0].error or ""
    assert (
        "the model could not be found" in error and "fake_server.py" in error and "--no-enable-prefix-caching" in error
    )
    assert report.logs is not None and (Path(report.logs) / "off.log").is_file()


def test_what_a_server_wrote_cannot_steer_the_terminal() -> None:
    assert plain("a\x1b[31m[bold]\u202eb\n") == "a\\u001b[31m[bold]\\u202eb\\u000a"
    assert plain("x" * 50, longest=10) == "x" * 10 + "…"
