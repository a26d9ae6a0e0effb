"""One script's verdict."""

from collections.abc import Iterator
from dataclasses import dataclass

from isotherm.core.errors import IsothermError
from isotherm.fuzz.oracle import answer_alone
from isotherm.fuzz.play import Answer, Played, play
from isotherm.fuzz.script import Script
from isotherm.fuzz.states import check_published
from isotherm.fuzz.subject import Model, Subject


@dataclass(frozen=True, slots=True)
class Verdict:
    """requests: answered. comparisons: values of which each had to be equal to the oracle's. failures: what was not, in words."""

    requests: int
    comparisons: int
    failures: tuple[str, ...] = ()
    cached_tokens: int = 0


def judge(model: Model, script: Script) -> Verdict:
    """Play the script, then ask the oracle about every request and every published block and snapshot."""
    try:
        subject = Subject(model, script.setting)
        played = play(script, subject)
    except (AssertionError, RuntimeError, ValueError, IndexError, KeyError, IsothermError) as error:
        return Verdict(len(script.asks), 0, (f"{type(error).__name__}: {error}",))
    if played.stuck:
        return Verdict(len(script.asks), 0, ("it did not come to an end",))
    failures = list(subject.audit.wrong)
    runner = subject.runner
    states = check_published(subject.cache, runner.state, model.decoder, runner.drafter, runner.host)
    compared = subject.audit.compared
    for count, failure in (*_answers(model, played), *states):
        compared += count
        if failure:
            failures.append(failure)
    cached = sum(answer.cached for answer in played.answers.values())
    return Verdict(len(played.requests), compared, tuple(failures), cached)


def _answers(model: Model, played: Played) -> Iterator[tuple[int, str]]:
    for name, request in played.requests.items():
        yield _difference(name, played.answers[name], answer_alone(model, request))


def _difference(name: str, answer: Answer, alone: Answer) -> tuple[int, str]:
    """How many values were compared, and the first that differs. A cancelled request is compared as far as it came."""
    if answer.finish is None:
        return 1, f"{name} was never finished"
    if answer.finish == "abort":
        tokens, bits, prompt_bits = len(answer.tokens), len(answer.bits), len(answer.prompt_bits)
        alone = Answer(alone.tokens[:tokens], alone.bits[:bits], alone.prompt_bits[:prompt_bits], "abort")
    compared = 1 + len(answer.tokens) + sum(1 + len(entry[3]) for entry in answer.bits + answer.prompt_bits)
    for what in ("prompt_bits", "tokens", "bits", "finish"):
        left, right = getattr(answer, what), getattr(alone, what)
        if left != right:
            return compared, f"{name}: {what} differ {_where(left, right)}"
    return compared, ""


def _where(left: object, right: object) -> str:
    if not isinstance(left, list) or not isinstance(right, list):
        return f"({left}, alone {right})"
    place = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return f"first at {place} of {len(left)} (alone {len(right)})"
