"""Servers that are not ours: what they lack is said, what they break is found, and none of it is taken for equal."""

import json
from pathlib import Path

import pytest
from foreign import commands, gate, verdicts

from isotherm.core.errors import ConfigError
from isotherm.gate.plan import ArmOptions
from isotherm.gate.run import NOT_DETERMINISTIC


def test_two_commands_are_started_fresh_for_every_arm_and_what_cannot_be_checked_is_said(battery: str) -> None:
    report = gate(battery, commands())
    assert verdicts(report) == {"off": "pass", "off again": "pass", "on": "pass"}
    assert report.exit_code == 0 and report.model == "fake"
    on = report.arms[-1]
    assert on.hits >= 4 and on.expected_cached_tokens is None
    (said,) = report.not_compared
    assert said.startswith("reach: ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--refuse", "return_token_ids"), ["token ids", "prompt token ids"]),
        (("--refuse", "logprobs"), ["log-probabilities"]),
        (("--refuse", "tools"), ["tool calls"]),
        (("--refuse", "stream_options"), ["hits"]),
        (("--refuse", "return_token_ids,logprobs,tools,stream_options"), ["token ids", "log-probabilities", "hits"]),
        (("--top-limit", "5"), []),
        (("--top-limit", "0"), []),
        (("--withhold", "token_ids"), ["token ids", "prompt token ids"]),
        (("--withhold", "logprobs"), ["log-probabilities"]),
        (("--withhold", "cached_tokens"), ["hits"]),
        (("--withhold", "usage"), ["hits"]),
        (("--no-health",), []),
    ],
)
def test_a_server_that_lacks_something_is_gated_on_the_rest(
    battery: str, options: tuple[str, ...], said: list[str]
) -> None:
    report = gate(battery, commands(*options))
    assert set(verdicts(report).values()) == {"pass"} and report.exit_code == 0, [r.error for r in report.arms]
    for words in [*said, "reach"]:
        assert any(line.startswith(words + ":") for line in report.not_compared), (words, report.not_compared)
    assert len(report.not_compared) <= 6


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (("--refuse", "return_token_ids"), "bit"),
        (("--refuse", "return_token_ids,logprobs"), "text"),
        (("--top-limit", "5"), "token"),
    ],
)
def test_a_fault_is_still_found_with_what_is_left(battery: str, options: tuple[str, ...], fault: str) -> None:
    report = gate(battery, commands(*options, "--fault", fault))
    assert verdicts(report) == {"off": "pass", "off again": "pass", "on": "differs"} and report.exit_code == 1


def test_tools_and_logprobs_are_had_without_streaming_where_streams_cannot_have_both(battery: str) -> None:
    report = gate(battery, commands("--whole-logprobs"))
    assert report.exit_code == 0, [result.error for result in report.arms]
    answer = report.arms[0].responses[0].answer
    assert answer.tool_calls and answer.scores and len(answer.token_ids) == 70 and answer.ttft_s is None
    assert any(line.startswith("time to first token: ") for line in report.not_compared)
    broken = gate(battery, commands("--whole-logprobs", "--fault", "bit"))
    assert verdicts(broken)["on"] == "differs"


def test_what_the_reference_gave_and_an_arm_does_not_is_missing(battery: str) -> None:
    report = gate(battery, commands(on=("--withhold", "logprobs")))
    assert verdicts(report)["on"] == "missing" and report.exit_code == 1


def test_an_arm_in_which_nothing_was_cached_has_tested_nothing(battery: str) -> None:
    report = gate(battery, commands("--fault", "no reach"))
    assert verdicts(report)["on"] == "no hits" and report.exit_code == 1


def test_nondeterminism_at_rest_ends_the_run(battery: str) -> None:
    report = gate(battery, commands("--fault", "random token", "--where", "everywhere"))
    assert report.error == NOT_DETERMINISTIC and list(verdicts(report)) == ["off", "off again"]
    assert report.exit_code == 1 and report.arms[1].worst is not None


@pytest.mark.parametrize(
    ("fault", "why"), [("500", "HTTP 500"), ("cut", "the stream ended early"), ("hang", "Timeout")]
)
def test_a_response_that_does_not_come_is_an_error(battery: str, fault: str, why: str) -> None:
    timeout = 0.5 if fault == "hang" else 30.0
    report = gate(battery, commands("--fault", fault), request_timeout_s=timeout)
    assert verdicts(report)["on"] == "error" and report.exit_code == 2
    assert any(why in str(response.answer.error) for response in report.arms[-1].responses)


def test_a_server_that_answers_nothing_ends_the_run_with_what_it_said(battery: str) -> None:
    report = gate(battery, commands("--fault", "500", "--where", "everywhere"))
    assert report.exit_code == 2 and list(verdicts(report)) == ["off"]
    assert "HTTP 500" in str(report.arms[0].error)


def test_a_slow_start_is_waited_for_and_a_crash_is_told_with_its_log(battery: str) -> None:
    report = gate(battery, commands("--loading-s", "0.5"))
    assert report.exit_code == 0 and report.arms[-1].start_s > 0.5
    crashed = gate(battery, commands("--fault", "exit"))
    assert crashed.exit_code == 2 and "the model could not be found" in str(crashed.arms[0].error)
    assert crashed.logs is not None and (Path(crashed.logs) / "off.log").is_file()


def test_a_command_that_does_not_exist_and_a_start_that_takes_too_long_are_errors(battery: str) -> None:
    report = gate(battery, ArmOptions(off_cmd="no-such-program --port {port}", on_cmd="x --port {port}"))
    assert report.exit_code == 2 and "no-such-program: No such file" in str(report.arms[0].error)
    report = gate(battery, commands("--loading-s", "60"), start_timeout_s=0.5)
    assert report.exit_code == 2 and "not healthy after 0.5 s" in str(report.arms[0].error)


def test_a_key_is_sent_and_asked_for_and_never_reported(battery: str) -> None:
    report = gate(battery, commands("--api-key", "from-the-command"), api_key="from-the-command")
    assert report.exit_code == 0
    refused = gate(battery, commands("--api-key", "right"), api_key="wr0ng")
    assert refused.exit_code == 2 and "--api-key" in str(refused.arms[0].error)
    assert "wr0ng" not in json.dumps(refused.to_record())
    crashed = gate(battery, commands("--fault", "exit", "--api-key", "s3cret"), api_key="s3cret")
    assert crashed.exit_code == 2 and "s3cret" not in json.dumps(crashed.to_record())
    record = refused.to_record()["arms"][0]["server"]
    assert record["fresh"] and record["url"] == "http://127.0.0.1:{port}" and record["command"][-2] == "***"


def test_a_model_list_that_lies_or_leaves_a_choice_is_told(battery: str) -> None:
    report = gate(battery, commands("--models", "a,b"))
    assert report.exit_code == 2 and "2 models (a, b)" in str(report.arms[0].error)
    report = gate(battery, commands("--models", "ghost"))
    assert report.exit_code == 2 and "the model ghost does not exist" in str(report.arms[0].error)
    assert gate(battery, commands("--models", "a,b"), model_name="fake").exit_code == 0


def test_fields_and_headers_of_the_user_are_in_every_request(battery: str) -> None:
    without = gate(battery, commands("--needs-field", "cache_prompt"))
    assert without.exit_code == 2 and "cache_prompt is needed" in str(without.arms[0].error)
    report = gate(battery, commands("--needs-field", "cache_prompt"), extra_body='{"cache_prompt": true}')
    assert report.exit_code == 0
    keyed = gate(battery, commands("--api-key", "k"), extra_headers=("Authorization: Bearer k",))
    assert keyed.exit_code == 0


def test_options_that_do_not_go_together_are_refused_by_name(battery: str) -> None:
    with pytest.raises(ConfigError, match=r"model: .*--model-name"):
        gate(battery, commands(), model="folder")
    with pytest.raises(ConfigError, match="extra_body: is not JSON"):
        gate(battery, commands(), extra_body="{")
    with pytest.raises(ConfigError, match="extra_header: expected NAME:VALUE"):
        gate(battery, commands(), extra_headers=("nothing",))
