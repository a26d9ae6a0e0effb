"""The shipped chat template, rendered as the text room renders it, with the spans that the assistant wrote marked."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

EMBEDDED = Path(__file__).parents[1] / "src/isotherm/model/embedded"
Message = dict[str, Any]


def _fail(message: str) -> None:
    raise jinja2.TemplateError(message)


@cache
def _template() -> jinja2.Template:
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    environment.globals["raise_exception"] = _fail
    return environment.from_string((EMBEDDED / "chat_template.jinja").read_text(encoding="utf-8"))


def render(
    messages: list[Message], tools: list[Message] | None = None, prompt: bool = False, thinking: bool = False
) -> str:
    """The text of a conversation; `prompt` opens the assistant's next turn."""
    return _template().render(messages=messages, tools=tools, add_generation_prompt=prompt, enable_thinking=thinking)


def pieces(messages: list[Message], tools: list[Message] | None) -> list[tuple[str, bool]]:
    """The conversation's text in order as (text, written by the assistant), the closing <|im_end|> with the assistant's part.

    Rendered turn by turn, which costs once the conversation's length: the template puts the same text for a turn whatever
    surrounds it (tests compare with the whole rendering).
    """
    parts: list[tuple[str, bool]] = []
    start, between = 0, ""
    for index, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        opened = render([], None, prompt=True, thinking=bool(message.get("reasoning_content")))
        before = render(messages[start:index], tools if start == 0 else None) + opened
        written = render([message], None)
        if not written.startswith(opened):
            raise ValueError("the template does not render a turn as it is generated")
        parts += [(between + before, False), (written[len(opened) :].removesuffix("\n"), True)]
        start, between = index + 1, "\n"
    return parts


def prompt_and_answer(messages: list[Message], tools: list[Message] | None) -> tuple[str, str]:
    """The text up to the last assistant turn, and that turn's text with its <|im_end|>."""
    prompt = render(messages[:-1], tools, prompt=True)
    return prompt, render(messages, tools)[len(prompt) :].removesuffix("\n")
