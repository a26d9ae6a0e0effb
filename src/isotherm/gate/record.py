"""Results as JSON holds them: schema 2, described in report.schema.json."""

from dataclasses import asdict
from typing import Any

from isotherm.gate.arms import Arm, Launch
from isotherm.gate.redact import without_secrets
from isotherm.gate.result import ArmResult, Response
from isotherm.gate.times import Times, milliseconds

SCHEMA = 2


def arm_record(result: ArmResult) -> dict[str, Any]:
    """An arm. Those keys that schema 1 had mean what they meant."""
    arm, warm, cold = result.arm, result.ttft_warm, result.ttft_cold
    met, asked = result.meets
    return {
        "name": arm.name,
        "setting": arm.setting,
        "flags": list(arm.flags),
        "kind": arm.kind,
        "caching": arm.caching,
        "concurrency": arm.concurrency,
        "repeat": arm.repeat,
        "pressure": arm.pressure,
        "server": _server(arm),
        "extra_body": dict(arm.extra_body),
        "against": arm.against,
        "twin": arm.twin,
        "control": arm.control,
        "may_differ": arm.may_differ,
        "must_differ_bits": arm.must_differ_bits,
        "verdict": result.verdict,
        "exit_code": result.exit_code,
        "responses": len(result.responses),
        "verdicts": result.verdicts,
        "text_differs": result.text_differs,
        "bits_differ": result.count("bits"),
        "missing": result.count("missing"),
        "errors": result.count("error"),
        "unreached": len(result.unreached),
        "cached_tokens": result.cached_tokens,
        "expected_cached_tokens": result.expected_cached_tokens,
        "hits": result.hits,
        "expected_hits": result.expected_hits,
        "meets": {"met": met, "asked": asked},
        "checksums": _named(result.checksums, "equal", "total"),
        "drafts_accepted": result.drafts_accepted,
        "drafts_of_hits": _named(result.drafts_of_hits, "accepted", "reference"),
        "not_compared": list(result.not_compared),
        "ttft_ms_p50": None if result.ttft is None else result.ttft.p50,
        "hits_ttft_ms_p50": None if warm is None else warm.p50,
        "hits_reference_ttft_ms_p50": None if warm is None or cold is None else cold.p50,
        "ttft_ms": {"all": _times(result.ttft), "cold": _times(cold), "warm": _times(warm)},
        "start_s": round(result.start_s, 2),
        "seconds": round(result.seconds, 2),
        "error": result.error,
        "details": [response_record(response) for response in result.responses],
    }


def _named(pair: tuple[int, int] | None, first: str, second: str) -> dict[str, int] | None:
    return None if pair is None else {first: pair[0], second: pair[1]}


def _server(arm: Arm) -> dict[str, Any] | None:
    """Where it was, when it is not our own with the arm's flags."""
    if arm.target is None:
        return None
    if isinstance(arm.target, Launch):
        command, url = list(without_secrets(arm.target.command)), arm.target.url
    else:
        command, url = None, arm.target.base_url
    return {"fresh": arm.fresh, "command": command, "url": without_secrets((url,))[0]}


def response_record(response: Response) -> dict[str, Any]:
    """A response, with all that was compared except the log-probabilities that are equal."""
    answer = response.answer
    return {
        "case": response.case,
        "turn": response.turn,
        "repeat": response.repeat,
        "verdict": response.verdict,
        "twin_differs": response.twin_differs,
        "prompt_tokens": len(answer.prompt_ids),
        "generated_tokens": len(answer.token_ids) or answer.completion_tokens,
        "cached_tokens": answer.cached_tokens,
        "expected_cached_tokens": response.expected_cached_tokens,
        "at_most": response.at_most,
        "ttft_ms": None if answer.ttft_s is None else milliseconds(answer.ttft_s),
        "has_expectation": response.has_expectation,
        "unmet": response.expectation,
        "text": answer.text,
        "reasoning": answer.reasoning,
        "tool_calls": [[call.name, call.arguments] for call in answer.tool_calls],
        "finish_reason": answer.finish_reason,
        "error": answer.error,
        "first_differing_token": response.comparison.first_token,
        "differences": [asdict(difference) for difference in response.comparison.differences],
    }


def _times(found: Times | None) -> dict[str, Any] | None:
    return None if found is None else found.to_record()
