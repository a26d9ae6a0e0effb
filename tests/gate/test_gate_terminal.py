"""The table fits the terminal that it is printed on, and nothing that a server wrote can steer it."""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console
from sample_report import HOSTILE, hostile, printed, published

from isotherm.gate.columns import ARM, COLUMNS, VERDICT, pair
from isotherm.gate.diff import Piece, sections, side_by_side
from isotherm.gate.redact import without_secrets
from isotherm.gate.safe import plain, visible
from isotherm.gate.side import print_side_by_side
from isotherm.gate.terminal import layout
from isotherm.gate.times import Times, times

STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_no_line_is_longer_than_the_terminal_is_wide_and_each_arm_has_one_line_of_numbers(width: int) -> None:
    lines = printed(published(), width).splitlines()
    assert all(len(line) <= width for line in lines)
    rows = [line for line in lines if line.startswith("exact-on  ")]
    assert len(rows) == 1 and rows[0].rstrip().endswith("pass")


def test_what_leaves_a_narrow_table_is_told_below_its_row() -> None:
    lines = printed(published(), 80).splitlines()
    row = next(i for i, line in enumerate(lines) if line.startswith("A3 "))
    assert lines[row].split() == ["A3", "18", "3", "5", "16/16", *lines[row].split()[5:7], "17/18", "differs"]
    assert lines[row + 1].strip() == "restore below the match, KV between reused; cached 3072/3072; states 16/16"


def test_a_wide_terminal_has_every_column_and_a_narrow_one_never_loses_arm_and_verdict() -> None:
    assert [column for column, _ in layout(140)[0]] == list(COLUMNS) and not layout(140)[1]
    for width in (1, 30, 80):
        shown = [column for column, _ in layout(width)[0]]
        assert ARM in shown and VERDICT in shown
        assert set(shown) | set(layout(width)[1]) == set(COLUMNS)


def test_the_gravest_response_of_a_red_arm_is_shown_with_both_sides() -> None:
    shown = printed(published(), 120)
    assert (
        "A3 against off: 2 bits differ, 1 wording differs, 1 tool arguments differ, 1 repeats the call; the gravest is"
        in shown
    )
    assert "repro-second, turn 2 (repeats the call)" in " ".join(shown.split())
    assert 'got  get_weather({"city": "Yakutsk"}), which was answered before' in shown


def test_of_an_arm_that_may_differ_one_difference_is_printed_and_of_one_that_may_not_all_are() -> None:
    report = published()
    assert "token ids from 0" not in printed(report, 120)
    strict = replace(report.arms[3], arm=replace(report.arms[3].arm, may_differ=False, must_differ_bits=False))
    assert "token ids from 0" in printed(replace(report, arms=(*report.arms[:3], strict)), 120)


def test_times_are_medians_and_95th_percentiles_that_were_measured() -> None:
    assert times([None]) is None
    assert times([0.001 * n for n in range(1, 21)] + [None]) == Times(10.0, 19.0, 20)
    assert times([0.5]) == Times(500.0, 500.0, 1)
    assert [pair(t) for t in (None, Times(3.14, 9.9, 2), Times(500, 830.4, 2), Times(9_000, 25_800, 2))] == [
        *("", "3.1/9.9ms", "500/830ms", "9.0/25.8s")
    ]


def test_nothing_that_a_server_wrote_reaches_the_terminal_unescaped() -> None:
    shown = printed(hostile(), 80)
    assert not STEERS.search(shown) and shown.encode("utf-8")
    assert "[bold]m[/bold]" in " ".join(shown.split()) and "\\u202egnp.exe" in shown


def test_side_by_side_nothing_that_a_server_wrote_reaches_the_terminal_unescaped() -> None:
    console = Console(file=io.StringIO(), width=80, highlight=False)
    print_side_by_side(hostile(), HOSTILE, "off", HOSTILE, console)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert not STEERS.search(shown) and "\\u202egnp.exe" in shown


def test_side_by_side_shows_the_repeated_call_beside_the_answer_and_tells_an_equal_turn_once() -> None:
    console = Console(file=io.StringIO(), width=100, highlight=False)
    print_side_by_side(published(), "repro-second", "A3", "exact-on", console)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines[0].startswith('repro-second, turn 1: the same text in both  get_weather({"city": "Yakutsk"})')
    call = next(line for line in lines if line.startswith("call 1"))
    assert call.split() == ["call", "1", 'get_weather({"city":', '"Yakutsk"})', "none"]
    assert any("not as the case asks" in line and "as the case asks" in line for line in lines)


def test_side_by_side_of_an_arm_that_has_no_such_answer_is_an_error() -> None:
    with pytest.raises(KeyError, match="has no answer to"):
        print_side_by_side(published(), "repro-second", "A3", "A9")


def test_only_the_words_that_differ_are_marked() -> None:
    left, right = side_by_side("one two three four", "one 2 three four")
    assert left == (Piece("one ", False), Piece("two", True), Piece(" three four", False))
    assert right == (Piece("one ", False), Piece("2", True), Piece(" three four", False))
    assert side_by_side("same", "same") == ((Piece("same", False),),) * 2


def test_long_texts_that_share_nothing_are_marked_whole_and_at_once() -> None:
    left, right = side_by_side("start " + "a b " * 3000 + "end", "start " + "c d " * 3000 + "end")
    assert [piece.differs for piece in left] == [False, True, False] == [piece.differs for piece in right]


def test_pieces_put_together_are_the_texts_again() -> None:
    for a, b in [("", "x"), ("x  y", "x y"), ("aé\u0301\n\tb", "a\nb c"), ("p q p", "q p q")]:
        assert tuple("".join(piece.text for piece in side) for side in side_by_side(a, b)) == (a, b)


def test_sections_stand_in_one_order_and_ten_calls_after_nine() -> None:
    answer = published().arms[0].responses[0].answer
    many = sections(
        answer, type(answer)(text="t", reasoning="r", tool_calls=answer.tool_calls * 10, finish_reason="stop")
    )
    names = [section.name for section in many]
    assert names == ["reasoning", "text", *(f"call {n}" for n in range(1, 11)), "finish"]


def test_what_hides_is_made_visible_and_what_does_not_is_left() -> None:
    assert plain("a\x1b[31m[bold]\u202eb\n") == "a\\u001b[31m[bold]\\u202eb\\u000a"
    assert plain("x" * 50, longest=10) == "x" * 10 + "…"
    assert visible("a\nb\u2028\U000e0041\x85", keep="\n") == "a\nb\\u2028\\U000e0041\\u0085"
    assert visible("Tromsø, Яку́тск, 雪, 🌨, e\u0301") == "Tromsø, Яку́тск, 雪, 🌨, e\u0301"


def test_keys_do_not_reach_the_report() -> None:
    words = ("isotherm", "gate", "--api-key", "sk-1", "--api-key=sk-2", "--extra-header", "authorization: sk-3")
    words += ("--off", "http://me:sk-4@host:1/v1", "--off-cmd", "serve --api-key sk-5 --port {port}", "--battery", "a")
    shown = without_secrets(words)
    assert "sk-" not in " ".join(shown)
    assert shown[:4] == ("isotherm", "gate", "--api-key", "***") and shown[-2:] == ("--battery", "a")
    assert "http://***@host:1/v1" in shown and "serve --api-key *** --port {port}" in shown
