"""Where generation ends: end tokens, stop tokens, stop strings on bytes, and not before min_tokens."""

from itertools import pairwise

import pytest

from isotherm.core.sampling import SamplingParams
from isotherm.core.vocabulary import Vocabulary
from isotherm.scheduler.stop import Ending, StopMatcher


def vocabulary(*texts: bytes) -> Vocabulary:
    """Token i adds texts[i]; token 90 is special and would add "STOP"; 91 ends a sequence."""
    padded = [*texts, *[b""] * (90 - len(texts)), b"STOP", b""]
    return Vocabulary(tuple(padded), frozenset({90, 91}), (91,))


def ends(params: SamplingParams, vocab: Vocabulary, tokens: list[int]) -> tuple[int, Ending] | None:
    """How many tokens were needed, and the ending."""
    matcher = StopMatcher(params, vocab)
    for count, token in enumerate(tokens, 1):
        ending = matcher.push(token)
        if ending is not None:
            return count, ending
    return None


def test_an_end_token_ends_unless_it_is_ignored() -> None:
    assert ends(SamplingParams(), vocabulary(), [1, 91, 1]) == (2, Ending("stop"))
    assert ends(SamplingParams(ignore_eos=True), vocabulary(), [1, 91, 1]) is None


def test_a_stop_token_is_named_as_the_reason() -> None:
    assert ends(SamplingParams(stop_token_ids=(7,)), vocabulary(), [1, 7]) == (2, Ending("stop", 7))


def test_a_stop_string_is_found_across_tokens() -> None:
    vocab = vocabulary(b"a", b"bc", b"d")
    assert ends(SamplingParams(stop=("abcd",)), vocab, [2, 0, 1, 2, 0]) == (4, Ending("stop", "abcd"))


def test_a_stop_string_is_found_inside_one_token() -> None:
    assert ends(SamplingParams(stop=("b",)), vocabulary(b"abc"), [0]) == (1, Ending("stop", "b"))


def test_a_stop_string_may_split_a_character_between_tokens() -> None:
    first, second = "é".encode()[:1], "é".encode()[1:]
    assert ends(SamplingParams(stop=("é",)), vocabulary(first, second), [0, 1]) == (2, Ending("stop", "é"))


def test_special_tokens_add_no_text_when_they_are_skipped() -> None:
    vocab = vocabulary(b"ST", b"OP")
    assert ends(SamplingParams(stop=("STOP",)), vocab, [90]) is None
    assert ends(SamplingParams(stop=("STOP",)), vocab, [0, 90, 1]) == (3, Ending("stop", "STOP"))
    assert ends(SamplingParams(stop=("STOP",), skip_special_tokens=False), vocab, [90]) == (1, Ending("stop", "STOP"))


@pytest.mark.parametrize("cuts", [(), (1,), (2,), (3,), (1, 2), (2, 4), (1, 2, 3, 4, 5)])
def test_the_stop_string_that_ends_first_counts_however_the_text_is_cut(cuts: tuple[int, ...]) -> None:
    text = b"xzbcde"
    pieces = [text[low:high] for low, high in pairwise((0, *cuts, len(text)))]
    found = ends(
        SamplingParams(stop=("bcd", "zbcd", "cd", "zbcde", "de")), vocabulary(*pieces), list(range(len(pieces)))
    )
    assert found is not None
    assert found[1] == Ending("stop", "zbcd"), "of two that end together the longer"


def test_the_first_min_tokens_tokens_cannot_end_it() -> None:
    vocab = vocabulary(b"a")
    params = SamplingParams(min_tokens=2, stop=("a",), stop_token_ids=(7,))
    assert ends(params, vocab, [0, 91, 7]) == (3, Ending("stop", 7))
    assert ends(params, vocab, [0, 0, 0]) == (3, Ending("stop", "a"))
    assert ends(params, vocab, [0, 0]) is None


def test_a_stop_string_seen_too_early_does_not_end_it_later() -> None:
    params = SamplingParams(min_tokens=1, stop=("a", "long stop"))
    assert ends(params, vocabulary(b"a", b"b"), [0, 1, 1]) is None


def test_end_and_stop_tokens_are_banned_until_min_tokens_are_out() -> None:
    matcher = StopMatcher(SamplingParams(min_tokens=2, stop_token_ids=(7, 3)), vocabulary())
    seen = [matcher.banned_after(0)]
    for token in (1, 2):
        matcher.push(token)
        seen.append(matcher.banned_after(0))
    assert seen == [(3, 7, 91), (3, 7, 91), ()]


def test_a_token_without_bytes_of_its_own_is_harmless() -> None:
    assert ends(SamplingParams(stop=("a",)), vocabulary(b"a"), [500, 0]) == (2, Ending("stop", "a"))
