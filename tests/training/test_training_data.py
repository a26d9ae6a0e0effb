"""The generator: what it promises about tools, held-out material, rendering and batches."""

import json
import random
import re
from itertools import pairwise
from typing import Any

import pytest
import torch
from training.cases import COUNTS, make_cases
from training.catalogue import DOMAINS, HELD_OUT, KNOWN
from training.catalogue.wordings import expand
from training.conversation import conversation
from training.evaluate import judge
from training.packing import encode, load_tokenizer, make_batch
from training.request import is_held
from training.synthetic import _draw_measures
from training.template import pieces, render

from isotherm.evaluate.case import EvalCase
from isotherm.gate.expect import read_expectation
from training import request


def case_of(expect: dict[str, Any], tools: list[dict[str, Any]]) -> EvalCase:
    return EvalCase("case", "group", (), tuple(tools), read_expectation(expect))


SCENES = [conversation(11, index) for index in range(150)]
WRITTEN = " ".join(str(scene.messages) + str(scene.schemas) for scene in SCENES)


def test_there_are_at_least_sixty_tools_in_twelve_domains() -> None:
    assert len(KNOWN) >= 60
    assert len({tool.name for tool in KNOWN}) == len(KNOWN)
    assert len(DOMAINS) == len({tool.domain for tool in KNOWN}) == 12


def test_schemas_cover_every_json_type_and_optional_fields() -> None:
    rng = random.Random(0)
    schemas = [tool.schema(rng)["function"]["parameters"] for tool in KNOWN]
    types = {p["type"] for s in schemas for p in s["properties"].values()}
    assert types >= {"string", "number", "integer", "boolean", "array", "object"}
    assert any("enum" in p for s in schemas for p in s["properties"].values())
    assert any(set(s["properties"]) > set(s.get("required", ())) for s in schemas)


def test_held_out_tools_and_phrasings_never_occur_in_training() -> None:
    for tool in HELD_OUT:
        assert tool.name not in WRITTEN
        assert tool.description not in WRITTEN
    for tool in KNOWN:
        assert not [ask for ask in tool.asks if is_held(tool, ask)]
        assert is_held(tool, tool.held_asks[0] + "!")


def test_a_phrasing_that_rewording_makes_into_a_held_out_one_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = KNOWN[0]
    drawn = iter((tool.held_asks[0].lower(), tool.held_asks[1] + "!", tool.asks[0]))
    monkeypatch.setattr(request, "_choose", lambda *_: next(drawn))
    assert request.choose_ask(random.Random(0), tool, held=False) == tool.asks[0]


def test_a_wording_with_choices_stands_for_all_its_sentences_and_keeps_their_slots() -> None:
    assert expand("[Is/Was] {x}[ here/]?") == ["Is {x} here?", "Is {x}?", "Was {x} here?", "Was {x}?"]
    assert len(expand("[a/b/c/d] [a/b/c/d]")) == 10
    for tool in KNOWN:
        needed = {"{" + p.name + "}" for p in tool.params if p.required}
        assert all(set(re.findall(r"{\w+}", ask)) >= needed for ask in tool.asks)


def test_numbers_told_apart_by_their_units_are_said_with_them() -> None:
    for index in range(50):
        params, said = _draw_measures(random.Random(index))
        assert len({p.name for p in params}) == len(params) == said.count("{")
        assert all("{" + p.name + "}" in said for p in params)


def test_a_conversation_is_a_function_of_seed_and_index() -> None:
    again = conversation(11, 3)
    assert again.messages == SCENES[3].messages
    assert again.schemas == SCENES[3].schemas
    assert conversation(12, 3).messages != again.messages


def test_the_mix_has_parallel_calls_errors_chains_and_talk() -> None:
    turns = [[len(m.get("tool_calls", ())) for m in s.messages if m["role"] == "assistant"] for s in SCENES]
    assert any(count > 1 for turn in turns for count in turn)
    assert any(a == 1 and b == 1 for turn in turns for a, b in pairwise(turn))
    assert any(count == 0 for turn in turns for count in turn)
    assert "error" in WRITTEN


def test_turn_by_turn_rendering_is_the_whole_rendering() -> None:
    for scene in SCENES:
        while scene.messages[-1]["role"] != "assistant":
            scene.messages.pop()
        assert "".join(text for text, _ in pieces(scene.messages, scene.schemas)) + "\n" == render(
            scene.messages, scene.schemas
        )


def test_a_turn_renders_again_as_the_tokens_that_were_generated() -> None:
    tokenizer = load_tokenizer()
    for scene in SCENES[:60]:
        whole = tokenizer.encode(render(scene.messages, scene.schemas).removesuffix("\n"), add_special_tokens=False).ids
        assert encode(scene)[0] == whole


def test_calls_are_read_back_as_they_were_meant() -> None:
    for scene in SCENES:
        for message in scene.messages:
            if message.get("tool_calls"):
                text = render([message], None)
                calls = [
                    {"name": c["function"]["name"], "arguments": c["function"]["arguments"]}
                    for c in message["tool_calls"]
                ]
                assert judge(case_of({"calls": calls}, scene.schemas), text) is None
                assert judge(case_of({"calls": calls[1:]}, scene.schemas), text)


def test_an_answer_is_right_only_without_a_call_and_with_every_value() -> None:
    case = case_of({"contains": ["-11.5", "clear"]}, [])
    assert judge(case, "It is -11.5 degrees and Clear.") is None
    assert judge(case, "It is 11.5 degrees and clear.")
    assert judge(case_of({"contains": []}, []), "")
    call = "-11.5, clear <tool_call>\n<function=get_time>\n</function>\n</tool_call>"
    assert judge(case_of({"contains": ["-11.5", "clear"]}, [KNOWN[0].schema(random.Random(0))]), call)


def test_a_batch_is_reproducible_and_its_documents_begin_on_blocks() -> None:
    batch, again = make_batch(3, 5, 2, 4096, 0.0), make_batch(3, 5, 2, 4096, 0.0)
    assert torch.equal(batch.tokens, again.tokens)
    starts = (batch.position == 0).nonzero()
    assert (starts[:, 1] % 64 == 0).all()
    assert (batch.weight[batch.position == 0] == 0).all()
    assert 0.02 < (batch.weight == 1).float().mean() < 0.5


def test_the_evaluation_has_at_least_five_hundred_cases_and_fits_in_the_package() -> None:
    cases = make_cases(1)
    assert len(cases) == sum(COUNTS.values()) >= 500
    assert len("\n".join(json.dumps(c, ensure_ascii=False) for c in cases).encode()) < 2_000_000


@pytest.mark.parametrize(
    "text", ["get_weather(Zorblat) Zorblat", "naïve 日本語 🎉 -12.50 'x' \"y\"\n\n\ttab", "a  b\r\nc"]
)
def test_the_tokenizer_gives_every_text_back(text: str) -> None:
    tokenizer = load_tokenizer()
    assert tokenizer.decode(tokenizer.encode(text, add_special_tokens=False).ids, skip_special_tokens=False) == text


def test_a_word_splits_after_a_space_as_it_does_in_a_schema() -> None:
    tokenizer = load_tokenizer()
    for word in ("Zorblatheim", "temperature", "quxelda", "getForecast"):
        alone = tokenizer.encode(word, add_special_tokens=False).tokens
        spaced = tokenizer.encode(" " + word, add_special_tokens=False).tokens
        assert "".join(spaced) == "Ġ" + "".join(alone)
        assert spaced[-len(alone) + 1 :] == alone[1:] or len(alone) == 1
