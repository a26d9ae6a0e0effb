"""Output to reasoning, answer and tool calls: nothing lost, nothing raised, the same however it is cut."""

import json
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_builders import TOOL

from isotherm.text.output import Delta, OutputParser

FORMATS = ("qwen3_coder", "hermes", None)


@dataclass(frozen=True)
class Parsed:
    content: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, str], ...] = ()


def deltas(pieces: list[str], form: Any, reasoning: bool = False, in_reasoning: bool = False) -> list[Delta]:
    ids = count()
    parser = OutputParser(form, reasoning, in_reasoning, [TOOL], lambda: f"call_{next(ids)}")
    return [*(parser.push(piece) for piece in pieces), parser.finish()]


def collect(found: list[Delta]) -> Parsed:
    """Adds deltas up, checking that each call begins with its id and name."""
    calls: list[list[str]] = []
    for call in (call for delta in found for call in delta.tool_calls):
        if call.index == len(calls):
            assert (call.id, call.arguments) == (f"call_{call.index}", "")
            assert call.name
            calls.append([call.name, ""])
        else:
            assert (call.index, call.id, call.name) == (len(calls) - 1, None, None)
            assert call.arguments
            calls[-1][1] += call.arguments
    content = "".join(delta.content for delta in found)
    return Parsed(content, "".join(delta.reasoning for delta in found), tuple((n, a) for n, a in calls))


def parse(text: str, form: Any, reasoning: bool = False, in_reasoning: bool = False) -> Parsed:
    return collect(deltas([text], form, reasoning, in_reasoning))


def xml(*parameters: tuple[str, str], name: str = "get_weather") -> str:
    body = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in parameters)
    return f"<tool_call>\n<function={name}>\n{body}</function>\n</tool_call>"


def hermes(arguments: str, name: str = "get_weather") -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


# However it is cut

_FRAGMENTS = [
    *(
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
        "<function=f>",
        "</function>",
        "<parameter=city>",
        "</parameter>",
    ),
    *(
        "<parameter=days>",
        "<parameter=options>",
        "<function=get_weather>",
        "\n",
        "\n\n",
        " ",
        "<",
        ">",
        "x",
        "🙂",
        "3",
        '"',
    ),
    *('{"name": "f", ', '"arguments": ', '{"city": "é\\n"}', "{", "}", "\\", '"name": "g"', ",", "[", "tru", "null"),
    *(xml(("city", "a"), ("days", "3")), hermes('{"city": "🙂"}'), xml(), hermes("{}")),
]
_OUTPUTS = st.lists(st.sampled_from(_FRAGMENTS), max_size=12).map("".join)


@given(
    text=_OUTPUTS,
    cuts=st.lists(st.integers(0, 400)),
    form=st.sampled_from(FORMATS),
    flags=st.tuples(st.booleans(), st.booleans()),
)
def test_fault_23_any_output_cut_anywhere_parses_the_same(
    text: str, cuts: list[int], form: Any, flags: tuple[bool, bool]
) -> None:
    whole = collect(deltas([text], form, *flags))
    edges = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    pieces = [text[a:b] for a, b in pairwise(edges)]
    assert collect(deltas(pieces, form, *flags)) == whole
    assert collect(deltas(list(text), form, *flags)) == whole


@pytest.mark.parametrize("form", FORMATS)
def test_a_response_cut_at_every_point_parses_the_same(form: Any) -> None:
    call = (
        hermes('{"city": "Köln 🙂\\n", "days": [1, -2.5e3, true]}')
        if form == "hermes"
        else xml(("city", "Köln\n🙂"), ("days", "3"))
    )
    text = f"<think>\nWhy? 👍🏽\n</think>\n\nI look.\n\n{call}\n{call}\nDone <b>."
    whole = parse(text, form, reasoning=True)
    assert len(whole.calls) == (2 if form else 0)
    for at in range(len(text) + 1):
        assert collect(deltas([text[:at], text[at:]], form, reasoning=True)) == whole


@given(text=_OUTPUTS, form=st.sampled_from(FORMATS))
def test_output_without_a_call_is_given_back_to_the_last_character(text: str, form: Any) -> None:
    parsed = parse(text, form)
    if not parsed.calls:
        assert parsed.content == text


@given(text=_OUTPUTS, form=st.sampled_from(("qwen3_coder", "hermes")))
def test_text_after_a_whole_call_is_parsed_as_if_it_stood_alone(text: str, form: Any) -> None:
    call = xml(("city", "a")) if form == "qwen3_coder" else hermes('{"city": "a"}')
    both, alone = parse(call + "." + text, form), parse("." + text, form)
    assert both.content == alone.content
    assert both.calls[1:] == alone.calls


def test_without_a_tool_format_tags_are_text() -> None:
    text = xml(("city", "a")) + "<think>x</think>"
    assert parse(text, None) == Parsed(text)


def test_text_is_streamed_and_only_a_possible_tag_is_held() -> None:
    found = deltas(["Hello ", "wor", "ld <", "b> a <tool", "box>\n", "."], "hermes")
    assert [delta.content for delta in found] == ["Hello ", "wor", "ld ", "<b> a ", "<toolbox>", "\n.", ""]


# Reasoning


@pytest.mark.parametrize(
    ("text", "is_open", "reasoning", "content"),
    [
        ("<think>\nWhy\n</think>\n\nYes", False, "Why", "Yes"),
        ("Why\n</think>\n\nYes", True, "Why", "Yes"),
        ("\nWhy\n\n</think>\n\n\nYes\n", True, "\nWhy\n", "\nYes\n"),
        ("\n\n<think>\n\nWhy</think>Yes", False, "\nWhy", "Yes"),
        ("\n</think>\n\nYes", True, "", "Yes"),
        ("Why <b>\n\n", True, "Why <b>\n\n", ""),
        ("Why</thin", True, "Why</thin", ""),
        ("Yes <think>no</think>", False, "", "Yes <think>no</think>"),
        ("\n\nYes", False, "", "\n\nYes"),
        ("<thinking>", False, "", "<thinking>"),
        ("", True, "", ""),
    ],
)
def test_reasoning_is_apart_and_loses_only_the_format_s_newlines(
    text: str, is_open: bool, reasoning: str, content: str
) -> None:
    for form in FORMATS:
        assert parse(text, form, reasoning=True, in_reasoning=is_open) == Parsed(content, reasoning)


def test_without_a_reasoning_format_its_tags_are_text() -> None:
    assert parse("<think>\na\n</think>\n\nb", "hermes").content == "<think>\na\n</think>\n\nb"


def test_a_call_inside_reasoning_is_reasoning() -> None:
    text = "I could " + xml()
    assert parse(text + "</think>" + xml(), "qwen3_coder", True, True) == Parsed("", text, (("get_weather", "{}"),))


# Calls


@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [
        ("{call}", "", 1),
        ("a\n\n{call}", "a{one}", 1),
        ("a\n\n\n{call}\nb", "a{one}\n\nb", 1),
        ("{call}\n{call}", "", 2),
        ("{call}\n\n{call}", "\n", 2),
        ("a{call} b\n\n{call}c", "a b{one}c", 2),
        ("{call}\n", "\n", 1),
        ("{call}\n.", "\n.", 1),
    ],
)
def test_text_around_calls_loses_only_the_format_s_newlines(text: str, content: str, calls: int) -> None:
    for form, call, one in (("qwen3_coder", xml(("city", "x")), ""), ("hermes", hermes('{"city": "x"}'), "\n")):
        parsed = parse(text.replace("{call}", call), form)
        assert len(parsed.calls) == calls
        assert {json.loads(arguments)["city"] for _, arguments in parsed.calls} == {"x"}
        assert parsed.content == content.replace("{one}", one)


_VALUES = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from('\n"\\<>/{}🙂')) | st.lists(
    st.sampled_from(["</parameter>", "\n", "<parameter=x", "</tool_call>", "</function", "a"])
).map("".join)


@given(values=st.dictionaries(st.sampled_from(["city", "free", "unknown"]), _VALUES))
def test_xml_strings_arrive_verbatim(values: dict[str, str]) -> None:
    parsed = parse(xml(*values.items()), "qwen3_coder")
    assert parsed.content == ""
    ((name, arguments),) = parsed.calls
    assert name == "get_weather"
    assert list(json.loads(arguments).items()) == list(values.items())
    assert arguments == json.dumps(values, ensure_ascii=False)


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("days", "3", "3"),
        ("days", " -3 ", "-3"),
        ("days", "three", '"three"'),
        ("days", "true", '"true"'),
        ("days", "", '""'),
        ("days", "NaN", '"NaN"'),
        ("days", "007", '"007"'),
        ("scale", "1.50", "1.50"),
        ("scale", "2e3", "2e3"),
        ("scale", "2", "2"),
        ("detail", "true", "true"),
        ("detail", "False", "false"),
        ("detail", "1", '"1"'),
        ("note", "null", "null"),
        ("note", "3", '"3"'),
        ("note", "a\nb", '"a\\nb"'),
        ("city", "3", '"3"'),
        ("city", "null", '"null"'),
        ("free", "3", '"3"'),
        ("days_list", "[1,\n 2]", "[1,\n 2]"),
        ("days_list", '{"a": 1}', '"{\\"a\\": 1}"'),
        ("options", '{"a": "é"}', '{"a": "é"}'),
        ("options", "{'a': 1}", "\"{'a': 1}\""),
        ("either", "3", "3"),
        ("either", "x", '"x"'),
        ("either", '"x"', '"\\"x\\""'),
    ],
)
def test_xml_values_are_converted_after_their_schema(key: str, text: str, expected: str) -> None:
    assert parse(xml((key, text)), "qwen3_coder").calls == (("get_weather", f'{{"{key}": {expected}}}'),)


def test_xml_keys_keep_their_order_and_strings_are_streamed() -> None:
    found = deltas(
        [
            "<tool_call>\n<function=get_weather>\n<par",
            "ameter=free>\nab",
            "c\nd\n</para",
            "meter>\n",
            "<parameter=days>\n1",
        ],
        "qwen3_coder",
    )
    assert [[(call.name, call.arguments) for call in delta.tool_calls] for delta in found] == [
        [],
        [("get_weather", ""), (None, '{"free": "ab')],
        [(None, "c\\nd")],
        [],
        [(None, '"')],
        [],
    ]
    assert found[-1].content == "<parameter=days>\n1"


def test_xml_may_be_written_on_one_line() -> None:
    text = "<tool_call><function=get_weather><parameter=city>a b</parameter><parameter=days>3</parameter></function></tool_call>"
    assert parse(text, "qwen3_coder").calls == (("get_weather", '{"city": "a b", "days": 3}'),)


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>",
        "<tool_call>\n<function=f",
        "<tool_call>\n<function=f>\n",
        "<tool_call>\n<function=f>\nhello\n</function>\n</tool_call>",
        "<tool_call>\n<function=f>\n<parameter=a",
        "<tool_call>\n<function=>\n</function>\n</tool_call>",
        "<tool_call>\nhello\n</tool_call>",
        "a\n\n\n<tool_call>\n</tool_call>\nb",
        "</tool_call></function></parameter>",
    ],
)
def test_xml_that_does_not_begin_a_call_is_text(text: str) -> None:
    assert parse(text, "qwen3_coder") == Parsed(text)


def test_a_call_inside_what_looked_like_one_is_found() -> None:
    assert parse("<tool_call>\n" + xml(), "qwen3_coder") == Parsed("<tool_call>", "", (("get_weather", "{}"),))
    assert parse("<tool_call>\n" + hermes("{}"), "hermes") == Parsed("<tool_call>", "", (("get_weather", "{}"),))


@pytest.mark.parametrize(
    ("text", "content", "arguments"),
    [
        ("<parameter=city>\nab", "", '{"city": "ab'),
        ("<parameter=city>\nab\n</par", "", '{"city": "ab\\n</par'),
        ("<parameter=city>\nab\n</parameter>\n", "", '{"city": "ab"'),
        ("<parameter=days>\n3\n</parameter>\n<parameter=options>\n{", "<parameter=options>\n{", '{"days": 3'),
    ],
)
def test_an_xml_call_that_is_cut_off_stays_open_and_loses_nothing(text: str, content: str, arguments: str) -> None:
    parsed = parse("<tool_call>\n<function=get_weather>\n" + text, "qwen3_coder")
    assert parsed == Parsed(content, "", (("get_weather", arguments),))
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        json.loads(arguments)


def test_what_follows_a_function_that_is_not_closed_is_text() -> None:
    text = xml(("city", "a")).removesuffix("</tool_call>")
    assert parse(text, "qwen3_coder") == Parsed("", "", (("get_weather", '{"city": "a"}'),))
    assert parse(text + "b", "qwen3_coder").content == "\nb"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(value=st.dictionaries(st.text(), _JSON), ascii=st.booleans(), indent=st.sampled_from([None, 2]))
def test_hermes_arguments_pass_unchanged(value: dict[str, Any], ascii: bool, indent: int | None) -> None:
    written = json.dumps(value, ensure_ascii=ascii, indent=indent)
    assert parse(hermes(written), "hermes") == Parsed("", "", (("get_weather", written),))


def test_hermes_arguments_are_streamed() -> None:
    found = deltas(
        ['<tool_call>\n{"name": "f", "argu', 'ments": {"a', '": [1, "b', '}"], ', '"c": 2}', "}\n</tool_call>"],
        "hermes",
    )
    assert [[(call.name, call.arguments) for call in delta.tool_calls] for delta in found] == [
        [],
        [("f", ""), (None, '{"a')],
        [(None, '": [1, "b')],
        [(None, '}"], ')],
        [(None, '"c": 2}')],
        [],
        [],
    ]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"arguments": {"a": 1}, "name": "f"}', '{"a": 1}'),
        ('{"name": "f"}', "{}"),
        ('{"id": 7, "name": "f", "x": [1], "arguments": {}, "y": "z"}', "{}"),
        ('{"name":"f","arguments":{"a":"line\nbreak"}}', '{"a":"line\nbreak"}'),
        ('{"name": "f", "arguments": {"a": 1}', '{"a": 1}'),
    ],
)
def test_hermes_members_may_come_in_any_order_and_some_may_be_missing(text: str, arguments: str) -> None:
    for spaced in (f"<tool_call>\n{text}\n</tool_call>", f"<tool_call>{text}</tool_call>", f"<tool_call>\n{text}"):
        assert parse(spaced, "hermes") == Parsed("", "", (("f", arguments),))


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "f", "arguments": {bad}}',
        '{"name": "f", "arguments": "{}"}',
        '{"name": "f", "arguments": [1]}',
        '{"name": 3, "arguments": {}}',
        '{"name": "", "arguments": {}}',
        '{"name": "\\ud800", "arguments": {}}',
        '{"arguments": {}}',
        '{"arguments": {"a" 1}, "name": "f"}',
        '{"name" "f"}',
        '{"name": "f" "arguments": {}}',
        "{}",
        "hello",
        '{"name": "f", "argum',
    ],
)
def test_hermes_text_that_does_not_begin_a_call_is_text(text: str) -> None:
    text = f"a\n<tool_call>\n{text}\n</tool_call>"
    assert parse(text, "hermes") == Parsed(text)


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ('{"a": 1,}', '{"a": 1,'),
        ('{"a": tru}', '{"a": tru'),
        ('{"a": 01}', '{"a": 01'),
        ('{"a": "\\x"}', '{"a": "\\'),
        ('{"a": [1}', '{"a": [1'),
        ('{"a": "unfinished', '{"a": "unfinished'),
    ],
)
def test_hermes_arguments_end_where_they_stop_being_json(arguments: str, kept: str) -> None:
    text = f'<tool_call>\n{{"name": "f", "arguments": {arguments}'
    parsed = parse(text, "hermes")
    assert parsed.calls == (("f", kept),)
    assert kept + parsed.content == arguments


def test_ids_are_unique_by_default() -> None:
    parser = OutputParser("hermes", False, False, None)
    ids = [call.id for call in parser.push(hermes("{}") * 3).tool_calls if call.id]
    assert len(set(ids)) == 3
    assert all(id.startswith("call_") for id in ids)
