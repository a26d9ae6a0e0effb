"""Is one response the same as another, and if not, where do they part?"""

from collections.abc import Iterator
from dataclasses import dataclass

from isotherm.gate.answer import Answer, TokenScore, ToolCall, float32_value
from isotherm.gate.capabilities import OURS, Capabilities
from isotherm.gate.near import AROUND, first_difference, tokens_near
from isotherm.gate.verdict import TEXT_KINDS, Kind, ResponseVerdict, gravest, repeated_calls


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same. what: the thing's name. place: the first index at which it differs, if it has one.

    place counts generated tokens for token ids and logprobs, prompt tokens for prompt token ids, characters for texts.
    """

    kind: Kind
    what: str
    expected: str
    actual: str
    place: int | None = None

    @property
    def heading(self) -> str:
        """What differs, and from where on."""
        return self.what if self.place is None else f"{self.what} from {self.place}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A response against the reference arm's response to the same request."""

    differences: tuple[Difference, ...] = ()

    def has(self, *kinds: Kind) -> bool:
        """Whether any difference is of one of these kinds."""
        return any(difference.kind in kinds for difference in self.differences)

    @property
    def text_differs(self) -> bool:
        """Whether a user would see it: text, reasoning, tool calls or finish reason."""
        return self.has(*TEXT_KINDS)

    @property
    def verdict(self) -> ResponseVerdict:
        """The gravest of the differences."""
        return gravest(difference.kind for difference in self.differences)

    @property
    def first_token(self) -> int | None:
        """The first generated token whose id or log-probabilities differ, from 0; None when none is known to."""
        places = [d.place for d in self.differences if d.what in ("token ids", "logprobs") and d.place is not None]
        return min(places, default=None)


def compare(
    reference: Answer,
    answer: Answer,
    capabilities: Capabilities = OURS,
    previous_calls: tuple[ToolCall, ...] = (),
) -> Comparison:
    """Compare text, tool calls, finish reason, token ids and log-probability bits.

    capabilities: what the server can give at all; the rest is not compared, and not missed.
    previous_calls: those of the conversation that have been answered, when tool results were the last thing said.
    """
    if answer.error is not None:
        return Comparison((Difference("error", "response", "an answer", answer.error),))
    found = [
        *_repeats(reference, answer, previous_calls),
        *_visible(reference, answer),
        *_ids(reference, answer),
        *_scores(reference, answer),
        *missing(answer, capabilities, reference),
    ]
    return Comparison(tuple(found))


def missing(answer: Answer, capabilities: Capabilities = OURS, reference: Answer | None = None) -> Iterator[Difference]:
    """What this server can give and this response lacks: without it, equal means nothing."""
    ids, scores = len(answer.token_ids), len(answer.scores)
    if capabilities.prompt_ids and not answer.prompt_ids:
        yield Difference("missing", "prompt_token_ids", "token ids", "none")
    if capabilities.token_ids and not ids:
        yield Difference("missing", "token_ids", "token ids", "none")
    unnamed = answer.completion_tokens - ids
    known = capabilities.unnamed and (
        reference is None or unnamed == reference.completion_tokens - len(reference.token_ids)
    )
    if capabilities.token_ids and capabilities.usage and unnamed and not known:
        yield Difference("missing", "token_ids", f"{answer.completion_tokens} by usage", f"{ids} ids")
    if capabilities.logprobs and not _whole_scores(answer, reference):
        wanted = ids if ids or reference is None else len(reference.scores)
        yield Difference("missing", "logprobs", f"{wanted or 'some'} entries", f"{scores} entries")
    if capabilities.cached_tokens and answer.cached_tokens is None:
        yield Difference("missing", "cached_tokens", "a number", "none")


def _whole_scores(answer: Answer, reference: Answer | None) -> bool:
    """Whether there is an entry a token; where the server tells no ids, as many as the reference had for the same text."""
    if answer.token_ids:
        return len(answer.scores) == len(answer.token_ids)
    if reference is not None and not any(_visible(reference, answer)):
        return len(answer.scores) == len(reference.scores)
    return bool(answer.scores)


def _repeats(reference: Answer, answer: Answer, previous_calls: tuple[ToolCall, ...]) -> Iterator[Difference]:
    repeated = repeated_calls(answer.tool_calls, previous_calls)
    if repeated and not repeated_calls(reference.tool_calls, previous_calls):
        call = f"{repeated[0].name}({repeated[0].arguments})"
        yield Difference("repeat", "repeated call", _calls(reference.tool_calls), f"{call}, which was answered before")


def _visible(reference: Answer, answer: Answer) -> Iterator[Difference]:
    for what in ("text", "reasoning"):
        expected, actual = getattr(reference, what), getattr(answer, what)
        if expected != actual:
            place = first_difference(expected, actual)
            start = max(0, place - 40)
            yield Difference("wording", what, expected[start : place + 40], actual[start : place + 40], place)
    if reference.tool_calls != answer.tool_calls:
        yield Difference("arguments", "tool calls", _calls(reference.tool_calls), _calls(answer.tool_calls))
    if reference.finish_reason != answer.finish_reason:
        yield Difference("wording", "finish reason", str(reference.finish_reason), str(answer.finish_reason))


def _calls(calls: tuple[ToolCall, ...]) -> str:
    return ", ".join(f"{call.name}({call.arguments})" for call in calls) or "none"


def _ids(reference: Answer, answer: Answer) -> Iterator[Difference]:
    """The first differing ids, of those that both sides have; `missing` reports a side that has none."""
    if reference.prompt_ids and answer.prompt_ids and reference.prompt_ids != answer.prompt_ids:
        place = first_difference(reference.prompt_ids, answer.prompt_ids)
        near = slice(max(0, place - AROUND), place + AROUND + 1)
        expected, actual = reference.prompt_ids[near], answer.prompt_ids[near]
        yield Difference("bits", "prompt token ids", str(list(expected)), str(list(actual)), place)
    if reference.token_ids and answer.token_ids and reference.token_ids != answer.token_ids:
        place = first_difference(reference.token_ids, answer.token_ids)
        yield Difference("bits", "token ids", tokens_near(reference, place), tokens_near(answer, place), place)


def _scores(reference: Answer, answer: Answer) -> Iterator[Difference]:
    """The first differing log-probability. Where entries are missing, those that are there cannot be told apart by place."""
    if not _whole_scores(reference, None) or not _whole_scores(answer, reference):
        return
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
    few = differing[:AROUND]
    wanted, got = (", ".join(_show(side, i) for i in few) for side in (left, right))
    return Difference("bits", "logprobs", wanted, got, place)


def _entries(score: TokenScore) -> list[tuple[str, int]]:
    """The chosen token first, then the likeliest ones, with equally likely ones in the order of their texts.

    A server may list equals in any order, and cut the list between equals: the last ones' texts are left out.
    """
    ordered = sorted(score.top, key=lambda entry: (-float32_value(entry[1]), entry[0]))
    last = ordered[-1][1] if ordered else None
    return [(score.token, score.bits), *((token if bits != last else "", bits) for token, bits in ordered)]


def _key(entries: list[tuple[str, int]], index: int, by_name: bool) -> tuple[str, int] | int | None:
    if index >= len(entries):
        return None
    return entries[index] if by_name else entries[index][1]


def _show(entries: list[tuple[str, int]], index: int) -> str:
    who = "chosen" if index == 0 else f"top {index}"
    if index >= len(entries):
        return f"{who} none"
    token, bits = entries[index]
    named = f"{who} {token!r}" if token else who
    return f"{named} {float32_value(bits):.9g} ({bits:08x})"
