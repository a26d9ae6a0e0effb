"""Ids to text as they arrive, and text held back for stop strings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_builders import write_folder

from isotherm.text.detokenizer import Detokenizer
from isotherm.text.stop import StopHold
from isotherm.text.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return Tokenizer.load(write_folder(tmp_path_factory.mktemp("model")))


def _cut(items: list, cuts: list[int]) -> list[list]:
    """Consecutive pieces of a list whose lengths are the cuts, then the rest."""
    pieces, at = [], 0
    for length in cuts:
        pieces.append(items[at : at + length])
        at += length
    return [*pieces, items[at:]]


@given(ids=st.lists(st.integers(0, 620)), cuts=st.lists(st.integers(0, 3)), skip=st.booleans())
def test_any_ids_cut_anywhere_give_the_text_of_all_of_them(
    ids: list[int], cuts: list[int], skip: bool, tokenizer: Tokenizer
) -> None:
    detokenizer = Detokenizer(tokenizer, skip)
    text = "".join(detokenizer.push(piece) for piece in _cut(ids, cuts)) + detokenizer.flush()
    assert text == tokenizer.decode(ids, skip)
    assert text == tokenizer.decode_bytes(ids, skip).decode("utf-8", errors="replace")


def test_a_character_is_held_until_it_is_whole(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("\U0001f9ea", special=False)
    assert len(ids) > 1
    detokenizer = Detokenizer(tokenizer, True)
    assert [detokenizer.push([id]) for id in ids] == [""] * (len(ids) - 1) + ["\U0001f9ea"]
    assert detokenizer.flush() == ""


def test_a_character_that_is_never_whole_becomes_a_replacement(tokenizer: Tokenizer) -> None:
    detokenizer = Detokenizer(tokenizer, True)
    assert detokenizer.push(tokenizer.encode("\U0001f9ea", special=False)[:-1]) == ""
    assert detokenizer.flush() == "\ufffd"


def test_special_tokens_are_skipped_only_when_asked(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("<think>a<|im_end|>")
    assert Detokenizer(tokenizer, True).push(ids) == "<think>a"
    assert Detokenizer(tokenizer, False).push(ids) == "<think>a<|im_end|>"


def test_a_suffix_that_could_become_a_stop_string_is_held() -> None:
    hold = StopHold(("END", "\n\n"), include=False)
    assert hold.push("say E") == "say "
    assert hold.push("N") == ""
    assert hold.push("ough\n") == "ENough"
    assert hold.finish(None) == "\n"


@pytest.mark.parametrize(("include", "rest"), [(False, ""), (True, "END")])
def test_text_ends_at_the_stop_string(include: bool, rest: str) -> None:
    hold = StopHold(("END",), include)
    assert hold.push("aE") == "a"
    assert hold.push("bEND and more of the last token") == "Eb"
    assert hold.finish("END") == rest


def test_a_stop_string_that_did_not_stop_the_sequence_is_text() -> None:
    hold = StopHold(("END",), include=False)
    assert hold.push("a END b") == "a "  # min_tokens forbids it, which only the engine knows
    assert hold.push(" c") == "END b c"
    assert hold.push("END") == ""
    assert hold.finish("END") == ""


def test_text_ends_at_the_match_that_ended_it_not_at_an_earlier_one() -> None:
    hold = StopHold(("ab", "aabxabc"), include=False)
    assert hold.push("aab") == ""  # min_tokens forbids this "ab"
    assert hold.push("xab") == ""
    assert hold.finish("ab") == "aabx"


_LETTERS = st.text("ab", min_size=1, max_size=3)


@given(pieces=st.lists(st.text("ab", max_size=4)), stops=st.lists(_LETTERS, max_size=3), include=st.booleans())
def test_nothing_is_lost_and_nothing_of_a_stop_string_is_shown_early(
    pieces: list[str], stops: list[str], include: bool
) -> None:
    """The engine's rule, told naively: it stops at the first piece in which a stop string ends."""
    hold = StopHold(tuple(stops), include)
    shown, text = "", ""
    for piece in pieces:
        found = []
        for stop in stops:
            at = (text + piece).find(stop, max(0, len(text) - len(stop) + 1))
            if at >= 0:
                found.append((at, stop))
        text += piece
        shown += hold.push(piece)
        if piece and found:
            at, stop = min(found)
            assert shown + hold.finish(stop) == text[: at + len(stop) if include else at]
            return
    assert shown + hold.finish(None) == text
