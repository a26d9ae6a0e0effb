"""Is one response the same as another, and if not, where do they part?"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from isotherm.gate.answer import Answer, TokenScore, float32_value

Kind = Literal["text", "bits", "missing", "error"]
Verdict = Literal["equal", "bits differ", "text differs", "missing", "error"]

_AROUND = 4


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same. what: the thing's name. place: the first index at which it differs, if it has one.

    kind: "text" is what a user sees; "bits" is token ids and log-probabilities; "missing" is something that the server did
    not send; "error" is a response that did not come.
    """

    kind: Kind
    what: str
    expected: str
    actual: str
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A response against the reference arm's response to the same request."""

    differences: tuple[Difference, ...] = ()

    def has(self, kind: Kind) -> bool:
        """Whether any difference is of this kind."""
        return any(difference.kind == kind for difference in self.differences)

    @property
    def verdict(self) -> Verdict:
        """The gravest of the differences."""
        if self.has("error"):
            return "error"
        if self.has("missing"):
            return "missing"
        if self.has("text"):
            return "text differs"
        return "bits differ" if self.has("bits") else "equal"


def compare(reference: Answer, answer: Answer) -> Comparison:
    """Compare text, tool calls, finish reason, token ids and log-probability bits."""
    if answer.error is not None:
        return Comparison((Difference("error", "response", "an answer", answer.error),))
    found = [*_visible(reference, answer), *_ids(reference, answer), *_scores(reference, answer), *missing(answer)]
    return Comparison(tuple(found))


def missing(answer: Answer) -> Iterator[Difference]:
    """What a complete response has and this one lacks: without it, equal means nothing."""
    if not answer.prompt_ids:
        yield Difference("missing", "prompt_token_ids", "token ids", "none")
    if not answer.token_ids:
        yield Difference("missing", "token_ids", "token ids", "none")
    if len(answer.scores) != len(answer.token_ids):
        yield Difference("missing", "logprobs", f"{len(answer.token_ids)} entries", f"{len(answer.scores)} entries")
    if answer.completion_tokens != len(answer.token_ids):
        yield Difference("missing", "token_ids", f"{answer.completion_tokens} by usage", f"{len(answer.token_ids)} ids")
    if answer.cached_tokens is None:
        yield Difference("missing", "cached_tokens", "a number", "none")


def _visible(reference: Answer, answer: Answer) -> Iterator[Difference]:
    for what in ("text", "reasoning"):
        expected, actual = getattr(reference, what), getattr(answer, what)
        if expected != actual:
            place = first_difference(expected, actual)
            start = max(0, place - 40)
            yield Difference("text", what, expected[start : place + 40], actual[start : place + 40], place)
    if reference.tool_calls != answer.tool_calls:
        yield Difference("text", "tool calls", _calls(reference), _calls(answer))
    if reference.finish_reason != answer.finish_reason:
        yield Difference("text", "finish reason", str(reference.finish_reason), str(answer.finish_reason))


def _calls(answer: Answer) -> str:
    return ", ".join(f"{call.name}({call.arguments})" for call in answer.tool_calls) or "none"


def _ids(reference: Answer, answer: Answer) -> Iterator[Difference]:
    if reference.prompt_ids != answer.prompt_ids:
        place = first_difference(reference.prompt_ids, answer.prompt_ids)
        near = slice(max(0, place - _AROUND), place + _AROUND + 1)
        expected, actual = reference.prompt_ids[near], answer.prompt_ids[near]
        yield Difference("bits", "prompt token ids", str(list(expected)), str(list(actual)), place)
    if reference.token_ids != answer.token_ids:
        place = first_difference(reference.token_ids, answer.token_ids)
        yield Difference("bits", "token ids", tokens_near(reference, place), tokens_near(answer, place), place)


def _scores(reference: Answer, answer: Answer) -> Iterator[Difference]:
    """The first differing log-probability. A missing entry is reported by `missing`."""
    for place, (expected, actual) in enumerate(zip(reference.scores, answer.scores, strict=False)):
        if difference := score_difference(expected, actual, place):
            yield difference
            return


def score_difference(expected: TokenScore, actual: TokenScore, place: int, by_name: bool = True) -> Difference | None:
    """Where two scores of one token differ: only the entries that do, a few of them; None when they do not.

    by_name: whether the likeliest tokens' texts are compared as well as their bits.
    """
    left, right = _entries(expected), _entries(actual)
    numbers = range(max(len(left), len(right)))
    differing = [i for i in numbers if _key(left, i, by_name) != _key(right, i, by_name)]
    if not differing:
        return None
    few = differing[:_AROUND]
    wanted, got = (", ".join(_show(side, i) for i in few) for side in (left, right))
    return Difference("bits", "logprobs", wanted, got, place)


def _entries(score: TokenScore) -> list[tuple[str, int]]:
    """The chosen token first, then the likeliest ones."""
    return [(score.token, score.bits), *score.top]


def _key(entries: list[tuple[str, int]], index: int, by_name: bool) -> tuple[str, int] | int | None:
    if index >= len(entries):
        return None
    return entries[index] if by_name else entries[index][1]


def _show(entries: list[tuple[str, int]], index: int) -> str:
    who = "chosen" if index == 0 else f"top {index}"
    if index >= len(entries):
        return f"{who} none"
    token, bits = entries[index]
    return f"{who} {token!r} {float32_value(bits):.9g} ({bits:08x})"


def tokens_near(answer: Answer, place: int) -> str:
    """The token ids around `place`, with their text where the server gave it."""
    near = range(max(0, place - _AROUND), min(place + _AROUND + 1, len(answer.token_ids)))
    texts = [repr(answer.scores[i].token) if i < len(answer.scores) else "" for i in near]
    return " ".join(f"{answer.token_ids[i]}{text}" for i, text in zip(near, texts, strict=True)) or "(ended)"


def first_difference(left: str | tuple[int, ...], right: str | tuple[int, ...]) -> int:
    """The first index at which two sequences differ; the shorter one's length when one begins the other."""
    pairs = zip(left, right, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
