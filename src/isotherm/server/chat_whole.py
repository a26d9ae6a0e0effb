"""A chat call's response when it is not streamed."""

from dataclasses import dataclass, field
from typing import Any

from isotherm.core.request import Output, TokenLogprob
from isotherm.server.chat_shape import ChatShape
from isotherm.server.choice import tool_call_bodies
from isotherm.server.logprobs import prompt_logprobs
from isotherm.server.usage import Usage
from isotherm.text.delta import Delta


@dataclass(slots=True)
class _Message:
    """One choice as it grows."""

    content: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: dict[int, dict[str, Any]] = field(default_factory=dict)
    tokens: list[int] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    finish_reason: str | None = None
    stop_reason: str | int | None = None

    def add(self, delta: Delta) -> None:
        self.content.append(delta.content)
        self.reasoning.append(delta.reasoning)
        for part in tool_call_bodies(delta):
            call = self.calls.setdefault(
                part["index"], {"id": None, "type": "function", "function": {"name": "", "arguments": ""}}
            )
            call["id"] = part.get("id", call["id"])
            call["function"]["name"] = part["function"].get("name", call["function"]["name"])
            call["function"]["arguments"] += part["function"]["arguments"]


class ChatWhole:
    """Gathers outputs; see shape.Whole."""

    def __init__(self, shape: ChatShape):
        self._shape = shape
        self._readers = shape.readers()
        self._messages = [_Message() for _ in self._readers]
        self._prompt_logprobs: tuple[TokenLogprob, ...] | None = None

    def read(self, index: int, output: Output) -> None:
        """See shape.Whole."""
        reader, message = self._readers[index], self._messages[index]
        message.add(reader.read(output))
        message.tokens += output.tokens
        message.logprobs += output.logprobs
        if output.prompt_logprobs is not None and index == 0:
            self._prompt_logprobs = output.prompt_logprobs
        if output.finish_reason is not None:
            message.finish_reason = reader.finish_reason(output)
            message.stop_reason = output.stop_reason

    def body(self, usage: Usage) -> dict[str, Any]:
        """See shape.Whole."""
        body = self._shape.head("chat.completion")
        body["choices"] = [self._choice(index, message) for index, message in enumerate(self._messages)]
        body["usage"] = usage.body()
        if self._prompt_logprobs is not None:
            body["prompt_logprobs"] = prompt_logprobs(self._prompt_logprobs, self._shape.token_text)
        if self._shape.token_ids:
            body["prompt_token_ids"] = self._shape.call.prompts[0].tokens
        return body

    def _choice(self, index: int, message: _Message) -> dict[str, Any]:
        choice: dict[str, Any] = {
            "index": index,
            "message": self._message(message),
            "logprobs": None,
            "finish_reason": message.finish_reason,
            "stop_reason": message.stop_reason,
        }
        if self._shape.logprobs:
            choice["logprobs"] = {"content": self._shape.writer().entries(message.logprobs), "refusal": None}
        if self._shape.token_ids:
            choice["token_ids"] = message.tokens
        return choice

    def _message(self, message: _Message) -> dict[str, Any]:
        content, reasoning = "".join(message.content), "".join(message.reasoning)
        calls = [message.calls[index] for index in sorted(message.calls)]
        body: dict[str, Any] = {"role": "assistant", "content": None if calls and not content else content}
        if reasoning and self._shape.include_reasoning:
            body["reasoning_content"] = body["reasoning"] = reasoning
        if calls:
            body["tool_calls"] = calls
        return {**body, "refusal": None}
