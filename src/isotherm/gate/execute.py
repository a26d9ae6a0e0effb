"""Carrying out one arm against a server that is up."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from isotherm.gate.answer import Answer
from isotherm.gate.api import Api, Dialect
from isotherm.gate.arms import Arm
from isotherm.gate.battery import Slot
from isotherm.gate.capabilities import Capabilities, seen
from isotherm.gate.client import GateClient, ServerError, ServerInfo
from isotherm.gate.compare import Comparison, Difference, compare, missing
from isotherm.gate.conversation import answered_calls
from isotherm.gate.expect import unmet
from isotherm.gate.negotiate import negotiate
from isotherm.gate.recording import Recording, Tick, record
from isotherm.gate.replay import replay
from isotherm.gate.rescore import TOP, compare_rescored
from isotherm.gate.result import ArmResult, Response


@dataclass(frozen=True, slots=True)
class Ran:
    """What an arm leaves for those that are compared with it. answers: in the order sent."""

    answers: tuple[Answer, ...]
    info: ServerInfo


@dataclass(frozen=True, slots=True)
class Reference:
    """What the first arm leaves for all the others: what is sent, in which dialect, and what can be compared."""

    recording: Recording
    model: str
    dialect: Dialect
    capabilities: Capabilities
    ran: Ran


@dataclass(frozen=True, slots=True)
class Server:
    """A server that is up. timeout_s: for one response."""

    url: str
    api: Api
    timeout_s: float

    def client(self, arm: Arm, dialect: Dialect) -> GateClient:
        """A client that adds the arm's own fields to every request."""
        return GateClient(self.url, self.timeout_s, self.api, dialect, arm.extra_body, arm.in_turn)


async def reference_arm(arm: Arm, server: Server, slots: tuple[Slot, ...], tick: Tick) -> tuple[ArmResult, Reference]:
    """Record the battery. The answers are compared with nothing, only looked at for what is missing.

    Raises ServerError.
    """
    dialect = await _dialect(arm, server)
    async with server.client(arm, dialect) as client:
        info = await client.info()
        _check_caching(arm, info)
        start = time.perf_counter()
        recording = await record(client, slots, arm.target is None or info.policy is not None, tick)
        seconds = time.perf_counter() - start
    policy = info.policy is not None
    shown = seen(recording.answers, hints=policy, policy=policy, tools=dialect.tools, streaming=dialect.stream)
    capabilities = Capabilities(policy=policy) if arm.target is None else shown
    reference = Reference(recording, client.model, dialect, capabilities, Ran(recording.answers, info))
    comparisons = [_alone(answer, capabilities) for answer in recording.answers]
    responses = _responses(arm, reference, reference.ran, reference.ran, comparisons)
    return _result(arm, responses, capabilities, seconds), reference


async def _dialect(arm: Arm, server: Server) -> Dialect:
    """Our own server takes everything, and its cache must not see questions that the gate does not reckon with."""
    if arm.target is None:
        return Dialect()
    async with server.client(arm, Dialect()) as client:
        return await negotiate(client)


async def chat_arm(arm: Arm, server: Server, reference: Reference, against: Ran, tick: Tick) -> tuple[ArmResult, Ran]:
    """Send the recorded battery and compare with what the arm `against` answered. Raises ServerError."""
    recording = reference.recording
    async with server.client(arm, reference.dialect) as client:
        info = await client.info()
        _check_caching(arm, info)
        if not arm.may_differ:
            _check_build(against.info.build, info.build)
        start = time.perf_counter()
        answers = await replay(client, recording, recording.waves(arm, info.policy), tick)
        seconds = time.perf_counter() - start
        checksums = await client.checksums()
    ran = Ran(tuple(answers), info)
    known = ran if arm.against == arm.name else against
    calls = [answered_calls(body) for body in recording.bodies]
    comparisons = [
        compare(known.answers[i % len(calls)], answer, reference.capabilities, calls[i % len(calls)])
        for i, answer in enumerate(answers)
    ]
    responses = _responses(arm, reference, ran, known, comparisons)
    return replace(_result(arm, responses, reference.capabilities, seconds), checksums=checksums), ran


async def rescore_arm(arm: Arm, server: Server, reference: Reference, tick: Tick) -> ArmResult:
    """Score each of the reference's sequences in one prefill and compare with what its tokens were sampled with."""
    answers, comparisons, start = [], [], time.perf_counter()
    async with server.client(arm, reference.dialect) as client:
        for sampled in reference.recording.answers:
            answer, comparison = await _rescored(client, sampled)
            answers.append(answer)
            comparisons.append(comparison)
            tick(len(answers))
    seconds = time.perf_counter() - start
    scored = Ran(tuple(answers), reference.ran.info)
    return ArmResult(arm, _responses(arm, reference, scored, reference.ran, comparisons), seconds=seconds)


async def _rescored(client: GateClient, sampled: Answer) -> tuple[Answer, Comparison]:
    try:
        scored, cached = await client.prompt_scores(sampled.prompt_ids + sampled.token_ids, TOP)
    except ServerError as error:
        return Answer(error=str(error)), Comparison((Difference("error", "response", "scores", str(error)),))
    return Answer(prompt_ids=sampled.prompt_ids, cached_tokens=cached or 0), compare_rescored(sampled, scored)


def _responses(
    arm: Arm, reference: Reference, ran: Ran, against: Ran, comparisons: Sequence[Comparison]
) -> tuple[Response, ...]:
    slots = reference.recording.slots
    expected = reference.recording.expected(arm, ran.info.policy, ran.answers)
    rows = []
    for i, (answer, comparison, tokens) in enumerate(zip(ran.answers, comparisons, expected, strict=True)):
        repeat, place = divmod(i, len(slots))
        case, turn = slots[place].case, slots[place].turn
        asked = case.expectation(turn) if arm.kind == "chat" else None
        rows.append(
            Response(
                case=case.id,
                turn=turn,
                answer=answer,
                comparison=comparison,
                expected_cached_tokens=tokens,
                reference_ttft_s=against.answers[place].ttft_s,
                reference_drafts=against.answers[place].drafts_accepted,
                expectation=None if asked is None else unmet(asked, answer),
                has_expectation=asked is not None,
                repeat=repeat,
                at_most=arm.pressure > 0,
            )
        )
    return tuple(rows)


def _result(arm: Arm, responses: tuple[Response, ...], capabilities: Capabilities, seconds: float) -> ArmResult:
    not_compared = capabilities.not_compared
    if not arm.fresh:
        not_compared += (f"a fresh start: the server of {arm.name!r} was up before and was not restarted",)
    return ArmResult(arm, responses, seconds=seconds, not_compared=not_compared)


def _alone(answer: Answer, capabilities: Capabilities) -> Comparison:
    if answer.error is not None:
        return compare(answer, answer)
    return Comparison(tuple(missing(answer, capabilities)))


def _check_build(expected: dict[str, str], actual: dict[str, str]) -> None:
    """Bits are promised within one build only."""
    parts = sorted(key for key in expected | actual if expected.get(key) != actual.get(key))
    if parts:
        told = ", ".join(f"{key} {expected.get(key)} became {actual.get(key)}" for key in parts)
        raise ServerError(f"this server is another build than the reference's: {told}")


def _check_caching(arm: Arm, info: ServerInfo) -> None:
    if info.caching is not None and info.caching != arm.caching:
        raise ServerError(f"arm {arm.name!r}: the server says that prefix_caching is {info.caching}")
