"""Reasoning, alone and before tool calls, streamed and not; and the checkpoint's sampling defaults."""

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from server_fakes import Served, serving

from isotherm.core.errors import ConfigError, RequestError
from isotherm.server.config import ServerConfig
from isotherm.server.defaults import SamplingDefaults

HI = [{"role": "user", "content": "Hi"}]
WEATHER = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}}},
}
CALL = "<tool_call>\n<function=weather>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>"
DEFAULTS = SamplingDefaults(temperature=0.6, top_p=0.95, top_k=20, max_tokens=7)


@pytest.fixture(scope="module")
def thinking() -> Iterator[Served]:
    parsers = {"enable_auto_tool_choice": True, "tool_call_parser": "qwen3_coder", "reasoning_parser": "qwen3"}
    with serving(**parsers, default_sampling=DEFAULTS) as served:
        yield served


@pytest.fixture
def thinker(thinking: Served) -> Iterator[openai.OpenAI]:
    thinking.engine.reset()
    thinking.template.in_reasoning = False
    with openai.OpenAI(base_url=f"{thinking.origin}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.mark.parametrize("group", [1, 2, 5, 1000])
@pytest.mark.parametrize("opened", [True, False])
def test_reasoning_answer_and_call_are_told_apart_streamed_and_not(
    thinker: openai.OpenAI, thinking: Served, group: int, opened: bool
) -> None:
    thinking.template.in_reasoning = opened
    thinking.engine.say(("" if opened else "<think>") + f"Hm 🤔.</think>Bien sûr.{CALL}", group=group)
    wanted: dict[str, Any] = {"model": "tiny", "messages": HI, "tools": [WEATHER], "max_tokens": 200}
    choice = thinker.chat.completions.create(**wanted).choices[0]
    message = choice.message
    assert message.reasoning_content.strip() == message.reasoning.strip() == "Hm 🤔."
    assert message.content.strip() == "Bien sûr." and choice.finish_reason == "tool_calls"
    assert json.loads(message.tool_calls[0].function.arguments) == {"days": 3}
    content, reasoning, arguments = "", "", ""
    for chunk in thinker.chat.completions.create(**wanted, stream=True):
        delta = chunk.choices[0].delta
        content += delta.content or ""
        reasoning += getattr(delta, "reasoning_content", None) or ""
        arguments += "".join(call.function.arguments for call in delta.tool_calls or ())
    assert (content, reasoning) == (message.content, message.reasoning_content)
    assert arguments == message.tool_calls[0].function.arguments


def test_reasoning_is_left_out_when_it_is_not_wanted(thinker: openai.OpenAI, thinking: Served) -> None:
    thinking.engine.say("<think>Hm.</think>Yes.")
    extra = {"include_reasoning": False}
    answer = thinker.chat.completions.create(model="tiny", messages=HI, max_tokens=50, extra_body=extra)
    assert answer.choices[0].message.content.strip() == "Yes."
    assert not hasattr(answer.choices[0].message, "reasoning_content")


def test_what_a_request_does_not_say_is_the_checkpoints_default(thinker: openai.OpenAI, thinking: Served) -> None:
    thinker.chat.completions.create(model="tiny", messages=HI)
    thinker.completions.create(model="tiny", prompt="Hi")
    thinker.chat.completions.create(model="tiny", messages=HI, temperature=0, max_tokens=9, extra_body={"top_k": 0})
    params = [request.sampling for request in thinking.engine.requests]
    assert [(p.temperature, p.top_p, p.top_k, p.max_tokens) for p in params] == [
        (0.6, 0.95, 20, 7),
        (0.6, 0.95, 20, 7),
        (0.0, 0.95, 0, 9),
    ]


def test_defaults_are_read_from_a_generation_config() -> None:
    config = {"temperature": 0.6, "top_p": 0.95, "top_k": 20, "max_new_tokens": 7, "eos_token_id": 1, "min_p": None}
    assert SamplingDefaults.from_generation_config(config) == DEFAULTS
    assert SamplingDefaults.from_generation_config({}) == SamplingDefaults()


def test_bad_defaults_are_errors() -> None:
    with pytest.raises(ConfigError, match="top_p"):
        SamplingDefaults.from_generation_config({"top_p": "high"})
    with pytest.raises(RequestError, match="temperature"):
        SamplingDefaults.from_generation_config({"temperature": -1})


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"tool_call_parser": "mistral"}, "tool_call_parser"),
        ({"reasoning_parser": "r1"}, "reasoning_parser"),
        ({"enable_auto_tool_choice": True}, "enable_auto_tool_choice"),
        ({"served_model_names": ()}, "served_model_name"),
        ({"max_body_bytes": 0}, "max_body_bytes"),
    ],
)
def test_a_setting_that_cannot_be_honoured_is_named(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError) as error:
        ServerConfig(**{"served_model_names": ("m",), **settings})
    assert error.value.field == field
