"""Carrying out one arm against a server that is up."""

import time
from dataclasses import dataclass

from isotherm.gate.answer import Answer
from isotherm.gate.arms import Arm
from isotherm.gate.battery import Slot
from isotherm.gate.client import GateClient, ServerError, ServerInfo
from isotherm.gate.compare import Comparison, Difference, compare, missing
from isotherm.gate.reach import Policy
from isotherm.gate.recording import Recording, Tick, record, replay
from isotherm.gate.rescore import TOP, compare_rescored
from isotherm.gate.result import ArmResult, Response


@dataclass(frozen=True, slots=True)
class Reference:
    """What the reference arm leaves for the others."""

    recording: Recording
    info: ServerInfo


async def reference_arm(
    arm: Arm, base_url: str, slots: tuple[Slot, ...], timeout_s: float, tick: Tick
) -> tuple[ArmResult, Reference]:
    """Record the battery. The answers are compared with nothing, only looked at for what is missing.

    Raises ServerError.
    """
    async with GateClient(base_url, timeout_s) as client:
        info = await client.info()
        _check_caching(arm, info)
        start = time.perf_counter()
        recording = await record(client, slots, _policy(info), tick)
        seconds = time.perf_counter() - start
    comparisons = [_alone(answer) for answer in recording.answers]
    responses = _responses(arm, recording, recording.answers, comparisons)
    return ArmResult(arm, responses, seconds=seconds), Reference(recording, info)


async def chat_arm(arm: Arm, base_url: str, reference: Reference, timeout_s: float, tick: Tick) -> ArmResult:
    """Send the recorded battery to a fresh server and compare with the reference. Raises ServerError."""
    recording = reference.recording
    async with GateClient(base_url, timeout_s) as client:
        info = await client.info()
        _check_caching(arm, info)
        if info.build != reference.info.build:
            raise ServerError(
                f"this server is another build than the reference's: {info.build}, {reference.info.build}"
            )
        start = time.perf_counter()
        answers = await replay(client, recording, arm.concurrency, tick)
        seconds = time.perf_counter() - start
    comparisons = [compare(known, answer) for known, answer in zip(recording.answers, answers, strict=True)]
    return ArmResult(arm, _responses(arm, recording, answers, comparisons), seconds=seconds)


async def rescore_arm(arm: Arm, base_url: str, reference: Reference, timeout_s: float, tick: Tick) -> ArmResult:
    """Score each of the reference's sequences in one prefill and compare with what its tokens were sampled with."""
    answers, comparisons, start = [], [], time.perf_counter()
    async with GateClient(base_url, timeout_s) as client:
        for sampled in reference.recording.answers:
            answer, comparison = await _rescored(client, sampled)
            answers.append(answer)
            comparisons.append(comparison)
            tick(len(answers))
    seconds = time.perf_counter() - start
    return ArmResult(arm, _responses(arm, reference.recording, answers, comparisons), seconds=seconds)


async def _rescored(client: GateClient, sampled: Answer) -> tuple[Answer, Comparison]:
    try:
        scored, cached = await client.prompt_scores(sampled.prompt_ids + sampled.token_ids, TOP)
    except ServerError as error:
        return Answer(error=str(error)), Comparison((Difference("error", "response", "scores", str(error)),))
    return Answer(prompt_ids=sampled.prompt_ids, cached_tokens=cached or 0), compare_rescored(sampled, scored)


def _responses(
    arm: Arm, recording: Recording, answers: list[Answer] | tuple[Answer, ...], comparisons: list[Comparison]
) -> tuple[Response, ...]:
    rows = zip(recording.slots, recording.answers, answers, comparisons, recording.expected(arm, answers), strict=True)
    return tuple(
        Response(slot.case.id, slot.turn, answer, comparison, expected, known.ttft_s)
        for slot, known, answer, comparison, expected in rows
    )


def _alone(answer: Answer) -> Comparison:
    return compare(answer, answer) if answer.error is not None else Comparison(tuple(missing(answer)))


def _policy(info: ServerInfo) -> Policy:
    if info.interval is None:
        raise ServerError("GET /version does not say snapshot_interval: no expected hits can be computed")
    return Policy(info.block, info.interval)


def _check_build(expected: dict[str, str], actual: dict[str, str]) -> None:
    """Bits are promised within one build only."""
    parts = sorted(key for key in expected | actual if expected.get(key) != actual.get(key))
    if parts:
        told = ", ".join(f"{key} {expected.get(key)} became {actual.get(key)}" for key in parts)
        raise ServerError(f"this server is another build than the reference's: {told}")


def _check_caching(arm: Arm, info: ServerInfo) -> None:
    if info.caching is not None and info.caching != arm.caching:
        raise ServerError(f"arm {arm.name!r}: the server says that prefix_caching is {info.caching}")
