"""Messages to a prompt, through the model's chat template."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from isotherm.core.errors import RequestError
from isotherm.text.control import ControlTokens, Marks, mark_value, strings
from isotherm.text.messages import REASONING_FIELDS, read_messages, read_tools
from isotherm.text.template import Template, find_templates
from isotherm.text.tokenizer import Tokenizer, is_text

_RESERVED = ("messages", "tools", "add_generation_prompt")
_OPEN_REASONING = re.compile(r"<think>\s*\Z")


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """A rendered conversation.

    tokens: what the model reads; `text` is the same as text. hint: tokens likely to be shared with other conversations, those
    before the first user message; 0 for none. in_reasoning: the template has opened <think>, so the answer begins inside it.
    """

    tokens: tuple[int, ...]
    hint: int
    text: str
    in_reasoning: bool


class ChatTemplate:
    """A model's chat templates with the tokenizer that reads what they render.

    Whatever a user's strings look like, they never become control tokens: the special tokens, and the added tokens that the
    template writes (<think>, <tool_call>, ...). In an assistant's text and reasoning, which is what the model generated, the
    latter are read as tokens, so that a history renders to what was generated; special tokens are text there too.
    """

    def __init__(self, templates: dict[str, Template], tokenizer: Tokenizer):
        self._templates = templates
        self._tokenizer = tokenizer
        self._encode_preamble = lru_cache(maxsize=8)(
            tokenizer.encode_rendered
        )  # the same one opens prompt after prompt
        self._special = ControlTokens(tokenizer.added[id] for id in tokenizer.vocabulary.special_ids)
        self._control = {name: self._control_of(template) for name, template in templates.items()}

    @classmethod
    def load(cls, folder: Path, tokenizer: Tokenizer, override: Path | None = None) -> "ChatTemplate":
        """The folder's templates, or the one in the file `override`. A folder without one loads; its prompts fail.

        Raises ConfigError for a bad override and CheckpointError for a bad folder.
        """
        return cls(find_templates(folder, override), tokenizer)

    def prompt(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        kwargs: dict[str, Any] | None = None,
    ) -> ChatPrompt:
        """Renders and tokenises a conversation. kwargs: further variables of the template, such as enable_thinking.

        The template sees what transformers would give it, except that content parts are already one string, and that arguments
        given as JSON text keep that text through `tojson`. Raises RequestError with the path of what is wrong.
        """
        tools = read_tools(tools)
        name = "tool_use" if tools is not None and "tool_use" in self._templates else "default"
        template = self._templates.get(name)
        if template is None:
            raise RequestError("messages", "the model has no chat template; give one with --chat-template")
        if tools is not None and "tools" not in template.variables:
            raise RequestError("tools", "the model's chat template does not render tools")
        read = _instructions(read_messages(messages, template.joint), template)
        extra = _read_kwargs(kwargs)
        try:
            return self._render(name, read, tools, add_generation_prompt, extra)
        except RecursionError as error:
            raise RequestError("messages", "are nested too deeply") from error

    def _render(
        self, name: str, messages: list[dict[str, Any]], tools: Any, add_generation_prompt: bool, extra: dict[str, Any]
    ) -> ChatPrompt:
        template, control = self._templates[name], self._control[name]
        marks = Marks(control.first, strings([messages, tools, extra]), template.source)
        marked = [_mark_message(message, control, self._special, marks.table) for message in messages]
        context = {
            "documents": None,
            **self._tokenizer.named,
            **mark_value(extra, control, marks.table),
            "tools": mark_value(tools, control, marks.table),
        }
        text = template.render(context | {"messages": marked, "add_generation_prompt": add_generation_prompt})
        if not is_text(text):
            raise RequestError("messages", "contain half of a surrogate pair, which is not text")
        tokens = self._tokens(text, marks, self._tokenizer.encode_rendered)
        preamble = self._tokens(_preamble(template, marked, context), marks, self._encode_preamble)
        hint = _common_prefix(tokens, preamble)
        in_reasoning = add_generation_prompt and _OPEN_REASONING.search(text[-64:]) is not None
        return ChatPrompt(tokens, hint, marks.unmark(text), in_reasoning)

    def _tokens(self, text: str, marks: Marks, encode: Callable[[str], tuple[int, ...]]) -> tuple[int, ...]:
        return marks.encode(self._tokenizer, text) if marks.are_in(text) else encode(text)

    def _control_of(self, template: Template) -> ControlTokens:
        written = {text for text in self._tokenizer.added.values() if text in template.literals and not text.isspace()}
        return ControlTokens(self._special.tokens | written)


def _read_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    for name in _RESERVED:
        if kwargs and name in kwargs:
            raise RequestError(f"chat_template_kwargs.{name}", "has a parameter of its own")
    return kwargs or {}


def _instructions(messages: list[dict[str, Any]], template: Template) -> list[dict[str, Any]]:
    """A developer's message is a system message to templates that do not know the role."""
    if "developer" in template.literals:
        return messages
    return [message | {"role": "system"} if message["role"] == "developer" else message for message in messages]


def _mark_message(
    message: dict[str, Any], control: ControlTokens, special: ControlTokens, marks: dict[int, str]
) -> dict[str, Any]:
    own = ("content", *REASONING_FIELDS) if message["role"] == "assistant" else ()
    return {key: mark_value(value, special if key in own else control, marks) for key, value in message.items()}


def _preamble(template: Template, messages: list[dict[str, Any]], context: dict[str, Any]) -> str:
    """What precedes the first user message, rendered without it; "" when nothing does or the template cannot.

    Some templates refuse a conversation without a user message. They are given one that differs from the real one at once.
    """
    first = next((place for place, message in enumerate(messages) if message["role"] == "user"), len(messages))
    if first == 0 and not context["tools"]:
        return ""
    before = messages[:first]
    stand_in = {
        "role": "user",
        "content": "B" if messages[first:] and messages[first]["content"].startswith("A") else "A",
    }
    for attempt in (before, [*before, stand_in]):
        try:
            return template.render(context | {"messages": attempt, "add_generation_prompt": False})
        except RequestError:
            continue
    return ""


def _common_prefix(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    return next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
