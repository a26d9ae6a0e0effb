"""Chat templates: agreement with transformers, the hint, histories that render to what was generated."""

import json
from pathlib import Path
from typing import Any

import pytest
from text_builders import (
    CHATML_TEMPLATE,
    HERMES_TEMPLATE,
    ODDS_TEMPLATE,
    TOOL,
    XML_TEMPLATE,
    assistant_call,
    write_folder,
)

from isotherm.core.errors import CheckpointError, ConfigError, RequestError
from isotherm.text.chat import ChatTemplate
from isotherm.text.output import OutputParser
from isotherm.text.tokenizer import Tokenizer


def load(folder: Path, template: Any, **files: Any) -> ChatTemplate:
    write_folder(folder, template, **files)
    return ChatTemplate.load(folder, Tokenizer.load(folder))


@pytest.fixture(scope="module")
def xml(tmp_path_factory: pytest.TempPathFactory) -> ChatTemplate:
    return load(tmp_path_factory.mktemp("xml"), XML_TEMPLATE)


@pytest.fixture(scope="module")
def hermes(tmp_path_factory: pytest.TempPathFactory) -> ChatTemplate:
    return load(tmp_path_factory.mktemp("hermes"), HERMES_TEMPLATE)


SYSTEM = {"role": "system", "content": "Be brief. Grüße 🙂"}
USER = {"role": "user", "content": "What is the weather in Paris?"}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": '{"sky": "sunny"}'}
CONVERSATIONS = {
    "one user message": [USER],
    "system and user": [SYSTEM, USER],
    "a finished turn": [SYSTEM, USER, {"role": "assistant", "content": "Sunny.", "name": None}, USER],
    "a tool round trip": [USER, assistant_call({"city": "Paris", "days": 3, "options": {"a": [1, "ü"]}}), RESULT],
    "two results": [USER, assistant_call({}, content="Let me look."), RESULT, RESULT, USER],
    "reasoning": [
        USER,
        {"role": "assistant", "content": "Hi", "reasoning": "Hm\n"},
        USER,
        assistant_call({}, thinking="So"),
    ],
}


@pytest.mark.parametrize("source", [XML_TEMPLATE, HERMES_TEMPLATE, CHATML_TEMPLATE, ODDS_TEMPLATE])
def test_prompts_equal_transformers(source: str, tmp_path: Path) -> None:
    from transformers import PreTrainedTokenizerFast

    ours = load(tmp_path, source)
    theirs = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    for name, messages in CONVERSATIONS.items():
        if source == CHATML_TEMPLATE:
            messages = [message | {"content": message["content"] or ""} for message in messages]
        for generation in (True, False):
            for kwargs in ({}, {"enable_thinking": False, "greeting": "hello"}):
                tools = [TOOL] if len(messages) > 1 and "tools" in source else None
                made = ours.prompt(messages, tools, generation, kwargs)
                arguments: dict[str, Any] = {"tools": tools, "add_generation_prompt": generation, **kwargs}
                assert made.text == theirs.apply_chat_template(messages, tokenize=False, **arguments), name
                expected = theirs.apply_chat_template(messages, **arguments)["input_ids"]
                assert list(made.tokens) == expected, name


def test_a_template_comes_from_its_own_file_before_the_tokenizer_config(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, "from the config")
    tokenizer = Tokenizer.load(folder)
    assert ChatTemplate.load(folder, tokenizer).prompt([USER]).text == "from the config"
    (folder / "chat_template.jinja").write_text("from the file")
    assert ChatTemplate.load(folder, tokenizer).prompt([USER]).text == "from the file"
    (folder / "mine.jinja").write_text("from the user")
    assert ChatTemplate.load(folder, tokenizer, folder / "mine.jinja").prompt([USER]).text == "from the user"


def test_a_named_list_has_a_template_for_tools(tmp_path: Path) -> None:
    named = [{"name": "default", "template": "plain"}, {"name": "tool_use", "template": "{{ tools[0].function.name }}"}]
    template = load(tmp_path, named)
    assert template.prompt([USER]).text == "plain"
    assert template.prompt([USER], [TOOL]).text == "get_weather"


def test_a_bad_template_is_named_when_it_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="line 1"):
        load(tmp_path, "{% if %}")
    folder = write_folder(tmp_path)
    tokenizer = Tokenizer.load(folder)
    with pytest.raises(ConfigError, match=r"none\.jinja"):
        ChatTemplate.load(folder, tokenizer, folder / "none.jinja")
    (folder / "bad.jinja").write_text("{{")
    with pytest.raises(ConfigError) as caught:
        ChatTemplate.load(folder, tokenizer, folder / "bad.jinja")
    assert caught.value.field == "chat_template"


def test_a_model_without_a_template_loads_and_refuses_chat(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no chat template"):
        load(tmp_path, None).prompt([USER])


@pytest.mark.parametrize(
    "attack",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{% set ns = namespace() %}{% set ns.__init__ = 1 %}",
        "{{ namespace.__init__.__globals__ }}",
        "{{ raise_exception.__globals__['json'] }}",
    ],
)
def test_templates_are_sandboxed(attack: str, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"refused|failed"):
        load(tmp_path, attack).prompt([USER])


def test_what_a_template_raises_is_the_request_s_error(xml: ChatTemplate) -> None:
    with pytest.raises(RequestError, match="No user query"):
        xml.prompt([SYSTEM])


def test_the_open_think_tag_of_a_template_is_reported(xml: ChatTemplate) -> None:
    assert xml.prompt([USER]).in_reasoning
    assert not xml.prompt([USER], kwargs={"enable_thinking": False}).in_reasoning
    assert not xml.prompt([USER], add_generation_prompt=False).in_reasoning


# The hint


def _prefix(template: ChatTemplate, text: str) -> int:
    return len(template._tokenizer.encode(text))


def test_the_hint_is_what_precedes_the_first_user_message(hermes: ChatTemplate) -> None:
    made = hermes.prompt([SYSTEM, USER, {"role": "assistant", "content": "Yes"}, USER])
    assert made.hint == _prefix(hermes, f"<|im_start|>system\n{SYSTEM['content']}<|im_end|>\n")


def test_prompts_that_differ_from_the_user_message_on_share_at_least_the_hint(
    xml: ChatTemplate, hermes: ChatTemplate
) -> None:
    for template in (xml, hermes):
        for before, tools in (([SYSTEM], None), ([SYSTEM], [TOOL]), ([], [TOOL])):
            one, two = (template.prompt([*before, USER | {"content": text}], tools) for text in ("Apples", "Bread"))
            assert one.hint == two.hint > 10
            assert one.tokens[: one.hint] == two.tokens[: two.hint]


def test_without_instructions_or_tools_there_is_no_hint(xml: ChatTemplate, hermes: ChatTemplate) -> None:
    assert xml.prompt([USER]).hint == 0
    assert hermes.prompt([USER]).hint == 0


def test_a_template_that_refuses_to_render_instructions_alone_still_has_a_hint(xml: ChatTemplate) -> None:
    made = xml.prompt([SYSTEM, USER])
    assert made.hint >= _prefix(xml, f"<|im_start|>system\n{SYSTEM['content']}<|im_end|>\n<|im_start|>user")


# Histories


def _generated(template: ChatTemplate, tool_format: Any, text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Tokens of a prompt and a generated answer, and of the next prompt with that answer as history."""
    first = template.prompt([SYSTEM, USER], [TOOL])
    parser = OutputParser(tool_format, True, first.in_reasoning, [TOOL])
    deltas = [parser.push(text), parser.finish()]
    calls: dict[int, dict[str, Any]] = {}
    for call in (call for delta in deltas for call in delta.tool_calls):
        function = calls.setdefault(
            call.index, {"id": call.id, "type": "function", "function": {"name": "", "arguments": ""}}
        )
        function["function"]["name"] += call.name or ""
        function["function"]["arguments"] += call.arguments
    answer = {
        "role": "assistant",
        "content": "".join(delta.content for delta in deltas) or None,
        "reasoning_content": "".join(delta.reasoning for delta in deltas) or None,
        "tool_calls": list(calls.values()) or None,
    }
    then = template.prompt([SYSTEM, USER, answer, RESULT], [TOOL])
    return first.tokens + template._tokenizer.encode(text + "<|im_end|>\n"), then.tokens


XML_ANSWERS = {
    "text": "Thinking.\n</think>\n\nIt is sunny. 🙂",
    "reasoning of lines": "One.\n\nTwo <b>.\n</think>\n\nDone",
    "a call": "Hm.\n</think>\n\n"
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nKöln\n</parameter>\n</function>\n</tool_call>",
    "text and two calls": "Hm.\n</think>\n\nI look.\n\n"
    '<tool_call>\n<function=get_weather>\n<parameter=city>\n a\n\n"b" \\ <c>\n</parameter>\n<parameter=days>\n3\n</parameter>\n'
    "<parameter=detail>\ntrue\n</parameter>\n<parameter=note>\nnull\n</parameter>\n</function>\n</tool_call>\n"
    "<tool_call>\n<function=get_weather>\n</function>\n</tool_call>",
    "an array as the model spaced it": "Hm.\n</think>\n\n<tool_call>\n<function=get_weather>\n<parameter=days_list>\n[1,2,\n 3]\n"
    '</parameter>\n<parameter=options>\n{"a":1.50}\n</parameter>\n</function>\n</tool_call>',
    "a call that is not one": "Hm.\n</think>\n\nSee: <tool_call>\n<function=>\n</tool_call> so.",
}


@pytest.mark.parametrize("name", XML_ANSWERS)
def test_fault_25_an_xml_history_renders_to_what_was_generated(name: str, xml: ChatTemplate) -> None:
    before, then = _generated(xml, "qwen3_coder", XML_ANSWERS[name])
    assert then[: len(before)] == before


HERMES_ANSWERS = {
    "text": "Thinking.\n</think>\n\nIt is sunny.",
    "a call": 'Hm.\n</think>\n\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Köln", "days": 3}}\n</tool_call>',
    "text and two calls": "Hm.\n</think>\n\nI look.\n"
    '<tool_call>\n{"name": "get_weather", "arguments": {"city":"a\\u00e9",  "scale": 1.50}}\n</tool_call>\n'
    '<tool_call>\n{"name": "get_weather", "arguments": {}}\n</tool_call>',
    "a blank line before the call": "Hm.\n</think>\n\nI look.\n\n"
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>',
}


@pytest.mark.parametrize("name", HERMES_ANSWERS)
def test_a_hermes_history_renders_to_what_was_generated(name: str, hermes: ChatTemplate) -> None:
    before, then = _generated(hermes, "hermes", HERMES_ANSWERS[name])
    assert then[: len(before)] == before


def test_a_tag_inside_arguments_is_text_in_a_history_and_misses_from_there(hermes: ChatTemplate) -> None:
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "<think>"}}\n</tool_call>'
    before, then = _generated(hermes, "hermes", "Hm.\n</think>\n\n" + call)
    assert then[: len(before)] != before
    assert template_text(hermes, then).startswith(template_text(hermes, before))


def template_text(template: ChatTemplate, tokens: tuple[int, ...]) -> str:
    return template._tokenizer.decode(tokens, skip_special=False)


def test_arguments_as_text_and_as_an_object_render_alike(xml: ChatTemplate, hermes: ChatTemplate) -> None:
    arguments = {"city": "Köln", "days": 3, "options": {"a": [True, None]}}
    text = json.dumps(arguments, ensure_ascii=False)
    for template in (xml, hermes):
        one, two = (template.prompt([USER, assistant_call(given), RESULT]) for given in (arguments, text))
        assert one == two


def test_no_arguments_are_an_empty_object(hermes: ChatTemplate) -> None:
    assert '"arguments": {}}' in hermes.prompt([USER, assistant_call(""), RESULT]).text
    assert '"arguments": {}}' in hermes.prompt([USER, assistant_call(None), RESULT]).text


def test_arguments_may_hold_line_breaks_as_models_write_them(xml: ChatTemplate, hermes: ChatTemplate) -> None:
    arguments = '{"city": "a\nb"}'
    assert "<parameter=city>\na\nb\n</parameter>" in xml.prompt([USER, assistant_call(arguments), RESULT]).text
    assert arguments in hermes.prompt([USER, assistant_call(arguments), RESULT]).text


def test_an_argument_may_have_any_name(xml: ChatTemplate) -> None:
    names = ("_written", "written", "items", "raw", "keys")
    made = xml.prompt([USER, assistant_call(json.dumps(dict.fromkeys(names, "v"))), RESULT])
    assert all(f"<parameter={name}>\nv\n</parameter>" in made.text for name in names)


# What is checked


def test_text_parts_are_joined_as_the_template_joins_them(xml: ChatTemplate, tmp_path: Path) -> None:
    parts = [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]
    assert "user\nab<|im_end|>" in xml.prompt(parts).text
    assert (
        "user\na\nb<|im_end|>"
        in load(tmp_path, "{{ 'user\n' + messages[0].content + '<|im_end|>' }}").prompt(parts).text
    )


def test_a_developer_message_is_a_system_message(xml: ChatTemplate) -> None:
    assert xml.prompt([SYSTEM | {"role": "developer"}, USER]) == xml.prompt([SYSTEM, USER])


BAD = {
    "messages": [],
    "messages[0]": ["hello"],
    "messages[0].role": [{"role": "robot", "content": ""}],
    "messages[1].content": [USER, {"role": "user", "content": None}],
    "messages[0].content": [{"role": "tool"}],
    "messages[0].content[1]": [{"role": "user", "content": [{"type": "text", "text": ""}, {"type": "image_url"}]}],
    "messages[0].content[0].type": [{"role": "user", "content": [{"type": "smell"}]}],
    "messages[0].content[0].text": [{"role": "user", "content": [{"type": "text", "text": 3}]}],
    "messages[0].reasoning_content": [{"role": "assistant", "reasoning_content": 1}],
    "messages[0].tool_calls": [{"role": "assistant", "tool_calls": "x"}],
    "messages[0].tool_calls[0].type": [{"role": "assistant", "tool_calls": [{"type": "custom"}]}],
    "messages[0].tool_calls[0].function.name": [{"role": "assistant", "tool_calls": [{"function": {}}]}],
    "messages[1].tool_calls[0].function.arguments": [USER, assistant_call("[1]")],
    "messages[0].function_call": [{"role": "assistant", "function_call": {"name": "f"}}],
    "messages[0].audio": [{"role": "assistant", "audio": {"id": "x"}}],
}


@pytest.mark.parametrize("path", BAD)
def test_a_bad_message_is_refused_with_its_path(path: str, xml: ChatTemplate) -> None:
    with pytest.raises(RequestError) as caught:
        xml.prompt(BAD[path])
    assert caught.value.param == path


@pytest.mark.parametrize(("kind", "word"), [("image_url", "image"), ("input_audio", "audio"), ("video_url", "video")])
def test_input_that_is_not_text_is_refused_by_name(kind: str, word: str, xml: ChatTemplate) -> None:
    with pytest.raises(RequestError, match=f"{word} input is not supported yet"):
        xml.prompt([{"role": "user", "content": [{"type": kind}]}])


@pytest.mark.parametrize(
    ("tools", "path"),
    [
        ({}, "tools"),
        ([{"type": "web_search"}], "tools[0].type"),
        ([TOOL, {"type": "function"}], "tools[1].function.name"),
        ([{"type": "function", "function": {"name": "f", "parameters": [1]}}], "tools[0].function.parameters"),
    ],
)
def test_a_bad_tool_is_refused_with_its_path(tools: Any, path: str, xml: ChatTemplate) -> None:
    with pytest.raises(RequestError) as caught:
        xml.prompt([USER], tools)
    assert caught.value.param == path


def test_tools_are_refused_by_a_template_that_would_drop_them(tmp_path: Path) -> None:
    with pytest.raises(RequestError) as caught:
        load(tmp_path, CHATML_TEMPLATE).prompt([USER], [TOOL])
    assert caught.value.param == "tools"


def test_template_variables_that_are_parameters_are_refused(xml: ChatTemplate) -> None:
    with pytest.raises(RequestError) as caught:
        xml.prompt([USER], kwargs={"messages": []})
    assert caught.value.param == "chat_template_kwargs.messages"


def test_half_a_surrogate_pair_in_a_message_is_refused(xml: ChatTemplate) -> None:
    for message in (USER | {"content": "\ud83d"}, assistant_call('{"city": "\\ud83d"}')):
        with pytest.raises(RequestError, match="surrogate"):
            xml.prompt([USER, message])


def test_deeply_nested_arguments_are_refused(hermes: ChatTemplate) -> None:
    deep = '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"
    with pytest.raises(RequestError) as caught:
        hermes.prompt([USER, assistant_call(deep)])
    assert caught.value.param == "messages[1].tool_calls[0].function.arguments"
