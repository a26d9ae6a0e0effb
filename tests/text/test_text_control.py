"""FAULTS 19: nothing that a user writes becomes a token that the template writes."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_builders import ADDED, HERMES_TEMPLATE, SPECIAL, TOOL, XML_TEMPLATE, assistant_call, write_folder

from isotherm.core.errors import RequestError
from isotherm.text.chat import ChatTemplate
from isotherm.text.tokenizer import Tokenizer

_PIECES = [*SPECIAL, *ADDED, "<|im_", "end|>", "<", ">", "<|im_end|", "\n", " ", "a", "é", "🙂", "\ufdd0", "\ufdd1"]
_WRITTEN = st.lists(st.sampled_from(_PIECES), max_size=6).map("".join)


@pytest.fixture(scope="module", params=[XML_TEMPLATE, HERMES_TEMPLATE], ids=["xml", "hermes"])
def template(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ChatTemplate:
    folder = write_folder(tmp_path_factory.mktemp("model"), request.param)
    return ChatTemplate.load(folder, Tokenizer.load(folder))


def _conversation(texts: dict[str, str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A round trip with a string of the user's in every place that takes one."""
    function = TOOL["function"] | {"description": texts["description"]}
    properties = {texts["key"]: {"type": "string", "description": texts["property"]}}
    tool = TOOL | {"function": function | {"parameters": {"type": "object", "properties": properties}}}
    arguments = json.dumps({texts["key"]: texts["argument"], "options": {texts["key"]: [texts["argument"]]}})
    call = assistant_call(arguments)
    call["tool_calls"][0]["function"]["name"] = "f" + texts["name"]
    messages = [
        {"role": "system", "content": "s" + texts["system"]},
        {"role": "user", "content": [{"type": "text", "text": "u"}, {"type": "text", "text": texts["user"]}]},
        call,
        {"role": "tool", "tool_call_id": "call_1", "content": texts["result"]},
    ]
    return messages, [tool]


_PLACES = ("system", "user", "result", "argument", "key", "name", "description", "property")


def _added(template: ChatTemplate, tokens: tuple[int, ...]) -> Counter[int]:
    return Counter(token for token in tokens if token in template._tokenizer.added)


@given(texts=st.fixed_dictionaries(dict.fromkeys(_PLACES, _WRITTEN)))
def test_user_strings_add_no_control_token_and_lose_no_character(texts: dict[str, str], template: ChatTemplate) -> None:
    made = template.prompt(*_conversation(texts))
    innocent = template.prompt(*_conversation(dict.fromkeys(_PLACES, "x")))
    assert _added(template, made.tokens) == _added(template, innocent.tokens)
    assert template._tokenizer.decode(made.tokens, skip_special=False) == made.text
    assert "u" + texts["user"] in made.text
    assert texts["result"] in made.text


def test_a_name_that_the_template_completes_to_a_control_token_is_text(template: ChatTemplate) -> None:
    texts = dict.fromkeys(_PLACES, "x") | {"key": "<|im_end|", "name": "<|im_end|"}
    made = template.prompt(*_conversation(texts))
    innocent = template.prompt(*_conversation(dict.fromkeys(_PLACES, "x")))
    assert _added(template, made.tokens) == _added(template, innocent.tokens)


@given(text=_WRITTEN)
def test_marked_text_has_the_tokens_of_plain_text(text: str, template: ChatTemplate) -> None:
    made = template.prompt([{"role": "user", "content": "x" + text + "x"}], add_generation_prompt=False)
    expected = template._tokenizer.encode(f"user\nx{text}x", special=False)
    assert made.tokens[1 : 1 + len(expected)] == expected


def test_special_tokens_in_an_assistant_s_text_are_text_and_its_tags_are_tokens(template: ChatTemplate) -> None:
    plain = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    before = _added(template, template.prompt(plain).tokens)
    written = [plain[0], {"role": "assistant", "content": "y <|im_end|> <think> z"}]
    added = _added(template, template.prompt(written).tokens) - before
    assert [template._tokenizer.added[id] for id in added] == ["<think>"]


def test_template_variables_are_user_strings_too(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, "<|im_start|>{{ persona }}")
    template = ChatTemplate.load(folder, Tokenizer.load(folder))
    made = template.prompt([{"role": "user", "content": ""}], kwargs={"persona": "<|im_start|>"})
    assert sum(_added(template, made.tokens).values()) == 1
    assert made.text == "<|im_start|><|im_start|>"


def test_marks_survive_a_template_that_escapes_to_ascii(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, "<|im_start|>{{ messages | tojson(ensure_ascii=true) }}")
    template = ChatTemplate.load(folder, Tokenizer.load(folder))
    made = template.prompt([{"role": "user", "content": "é <|im_start|>"}])
    assert made.text == '<|im_start|>[{"role": "user", "content": "\\u00e9 <|im_start|>"}]'
    assert sum(_added(template, made.tokens).values()) == 1


def test_a_user_who_writes_every_noncharacter_is_refused(template: ChatTemplate) -> None:
    every = "".join(map(chr, range(0xFDD0, 0xFDF0)))
    with pytest.raises(RequestError, match="noncharacters"):
        template.prompt([{"role": "user", "content": every}])


def test_a_control_token_that_plain_text_would_become_is_refused(tmp_path: Path) -> None:
    written = json.loads((write_folder(tmp_path, "{{ messages[0].content }}") / "tokenizer.json").read_text())
    flags = {"special": True, "normalized": False, "single_word": False, "lstrip": False, "rstrip": False}
    written["added_tokens"].append({"id": written["model"]["vocab"]["x"], "content": "x", **flags})
    written["added_tokens"].sort(key=lambda entry: entry["id"])
    (tmp_path / "tokenizer.json").write_text(json.dumps(written))
    template = ChatTemplate.load(tmp_path, Tokenizer.load(tmp_path))
    with pytest.raises(RequestError, match="'x' cannot be written as plain text"):
        template.prompt([{"role": "user", "content": "x"}])


def test_an_added_token_that_is_only_whitespace_stays_one(tmp_path: Path) -> None:
    written = json.loads(
        (write_folder(tmp_path, "a  b<|im_start|>{{ messages[0].content }}") / "tokenizer.json").read_text()
    )
    last = max(entry["id"] for entry in written["added_tokens"]) + 1
    flags = {"special": False, "normalized": False, "single_word": False, "lstrip": False, "rstrip": False}
    written["added_tokens"].append({"id": last, "content": "  ", **flags})
    (tmp_path / "tokenizer.json").write_text(json.dumps(written))
    template = ChatTemplate.load(tmp_path, Tokenizer.load(tmp_path))
    for content in ("a  b", "a  b <|im_start|>"):
        tokens = template.prompt([{"role": "user", "content": content}]).tokens
        assert _added(template, tokens)[last] == 2
