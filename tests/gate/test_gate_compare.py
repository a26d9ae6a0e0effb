"""Each kind of fault in one response gets its verdict."""

from dataclasses import replace

import pytest

from isotherm.gate.answer import Answer, TokenScore, ToolCall, float32_bits
from isotherm.gate.capabilities import Capabilities
from isotherm.gate.compare import compare
from isotherm.gate.verdict import ResponseVerdict

SCORES = tuple(TokenScore(c, float32_bits(-0.5 - i), (("a", 1), ("b", 2))) for i, c in enumerate("abc"))
ANSWER = Answer(
    text="abc",
    tool_calls=(ToolCall("ask", '{"a": 1}'),),
    finish_reason="stop",
    prompt_ids=(1, 2, 3),
    token_ids=(97, 98, 99),
    scores=SCORES,
    completion_tokens=3,
    cached_tokens=0,
)


def with_score(index: int, score: TokenScore) -> Answer:
    return replace(ANSWER, scores=(*SCORES[:index], score, *SCORES[index + 1 :]))


def test_an_answer_equals_itself_whatever_was_cached_and_however_long_it_took() -> None:
    assert compare(ANSWER, replace(ANSWER, cached_tokens=64, ttft_s=1.0, total_s=2.0)).verdict == "equal"


@pytest.mark.parametrize(
    ("other", "verdict", "what"),
    [
        (replace(ANSWER, text="abd"), "wording differs", "text"),
        (replace(ANSWER, reasoning="hm"), "wording differs", "reasoning"),
        (replace(ANSWER, tool_calls=(ToolCall("ask", '{"a":1}'),)), "tool arguments differ", "tool calls"),
        (replace(ANSWER, tool_calls=(*ANSWER.tool_calls, ANSWER.tool_calls[0])), "tool arguments differ", "tool calls"),
        (replace(ANSWER, finish_reason="length"), "wording differs", "finish reason"),
        (replace(ANSWER, token_ids=(97, 98, 100)), "bits differ", "token ids"),
        (replace(ANSWER, prompt_ids=(1, 2, 4)), "bits differ", "prompt token ids"),
        (with_score(1, replace(SCORES[1], bits=SCORES[1].bits ^ 1)), "bits differ", "logprobs"),
        (with_score(2, replace(SCORES[2], top=(("a", 1), ("b", 3)))), "bits differ", "logprobs"),
        (with_score(2, replace(SCORES[2], top=(("a", 1), ("c", 2)))), "bits differ", "logprobs"),
        (replace(ANSWER, scores=SCORES[:2]), "missing", "logprobs"),
        (replace(ANSWER, scores=SCORES[1:]), "missing", "logprobs"),
        (replace(ANSWER, cached_tokens=None), "missing", "cached_tokens"),
        (replace(ANSWER, completion_tokens=4), "missing", "token_ids"),
        (Answer(error="HTTP 500"), "error", "response"),
    ],
)
def test_every_fault_has_its_verdict(other: Answer, verdict: ResponseVerdict, what: str) -> None:
    comparison = compare(ANSWER, other)
    assert comparison.verdict == verdict
    assert what in [difference.what for difference in comparison.differences]


def test_a_difference_shows_the_tokens_around_its_place() -> None:
    ids = tuple(range(100, 130))
    long = replace(ANSWER, token_ids=ids, scores=(), completion_tokens=30)
    other = replace(long, token_ids=(*ids[:20], 7, *ids[21:]))
    (difference,) = [d for d in compare(long, other).differences if d.what == "token ids"]
    assert difference.place == 20
    assert difference.expected == "116 117 118 119 120 121 122 123 124"
    assert difference.actual == "116 117 118 119 7 121 122 123 124"


def test_float32_bits_tell_neighbours_and_zeros_apart() -> None:
    assert float32_bits(-0.1) == float32_bits(-0.10000000149011612)
    assert float32_bits(-0.1) != float32_bits(-0.10000000894069672)
    assert float32_bits(0.0) != float32_bits(-0.0)
    assert float32_bits(-9999.0) != float32_bits(float("-inf"))


def test_the_order_of_equally_likely_tokens_and_where_they_are_cut_off_is_no_difference() -> None:
    high, tied, low = float32_bits(-1.0), float32_bits(-2.0), float32_bits(-3.0)

    def top(*entries: tuple[str, int]) -> Answer:
        return with_score(1, replace(SCORES[1], top=entries))

    listed = top(("a", high), ("b", tied), ("c", tied), ("d", low))
    assert compare(listed, top(("a", high), ("c", tied), ("b", tied), ("d", low))).verdict == "equal"
    assert compare(listed, top(("a", high), ("b", tied), ("c", tied), ("e", low))).verdict == "equal"
    assert compare(listed, top(("a", high), ("b", tied), ("e", tied), ("d", low))).verdict == "bits differ"
    assert compare(listed, top(("a", high), ("b", tied), ("c", low), ("d", low))).verdict == "bits differ"


def test_tokens_that_a_server_never_names_are_missed_only_where_the_reference_names_them() -> None:
    short, capabilities = replace(ANSWER, completion_tokens=5), Capabilities(unnamed=1)
    assert compare(short, short).verdict == "missing"
    assert compare(short, short, capabilities).verdict == "equal"
    assert compare(ANSWER, short, capabilities).verdict == "missing"
