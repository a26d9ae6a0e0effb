"""Reading a chat completion: server-sent events, or one JSON object, gathered into one Answer."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

from isotherm.gate.answer import Answer, TokenScore, ToolCall, float32_bits


@dataclass(slots=True)
class StreamReader:
    """Takes the lines of an event stream; `answer()` is what they said. `started` is true once a token has arrived.

    Token ids are vLLM's `token_ids`, or llama.cpp's, which are in the log-probabilities.
    """

    started: bool = False
    _done: bool = False
    _error: str | None = None
    _text: list[str] = field(default_factory=list)
    _reasoning: list[str] = field(default_factory=list)
    _calls: dict[int, list[str]] = field(default_factory=dict)
    _finish_reason: str | None = None
    _prompt_ids: tuple[int, ...] = ()
    _token_ids: list[int] = field(default_factory=list)
    _scores: list[TokenScore] = field(default_factory=list)
    _usage: dict[str, Any] = field(default_factory=dict)

    def push(self, line: str) -> None:
        """One line of the stream; lines that carry no data (comments, event names, blanks) are skipped."""
        if not line.startswith("data:"):
            return
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            self._done = True
            return
        try:
            self._event(json.loads(data))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            self._error = self._error or f"unreadable event ({type(error).__name__}: {error}): {data[:200]}"

    def whole(self, record: dict[str, Any]) -> None:
        """A response that was not streamed."""
        try:
            choices = [choice | {"delta": choice["message"]} for choice in record["choices"]]
            self._event(record | {"choices": choices})
            self._done = True
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            self._error = f"unreadable response ({type(error).__name__}: {error}): {str(record)[:200]}"

    def answer(self, ttft_s: float | None, total_s: float) -> Answer:
        """The whole response. One that was cut short, or that carried an error, is an error."""
        if self._error is not None or not self._done or self._finish_reason is None:
            return Answer(error=self._error or "the stream ended early", total_s=total_s)
        answer = Answer(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            tool_calls=tuple(ToolCall(name, arguments) for _, (name, arguments) in sorted(self._calls.items())),
            finish_reason=self._finish_reason,
            prompt_ids=self._prompt_ids,
            token_ids=tuple(self._token_ids),
            scores=tuple(self._scores),
            ttft_s=ttft_s,
            total_s=total_s,
        )
        details = self._usage.get("prompt_tokens_details") or {}
        count = self._usage.get("completion_tokens", 0)
        drafts = (self._usage.get("completion_tokens_details") or {}).get("accepted_prediction_tokens") or 0
        cached = details.get("cached_tokens")
        return replace(answer, completion_tokens=count, cached_tokens=cached, drafts_accepted=drafts)

    def _event(self, event: dict[str, Any]) -> None:
        if event.get("error"):
            self._error = str(event["error"])
            return
        self._usage = event.get("usage") or self._usage
        self._prompt_ids = tuple(event.get("prompt_token_ids") or ()) or self._prompt_ids
        for choice in event.get("choices") or ():
            self._choice(choice)

    def _choice(self, choice: dict[str, Any]) -> None:
        delta = choice.get("delta") or {}
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
        text = delta.get("content") or ""
        reasoning = delta.get("reasoning_content") or delta.get("reasoning") or ""
        self._text.append(text)
        self._reasoning.append(reasoning)
        for call in delta.get("tool_calls") or ():
            self._call(call)
        entries = (choice.get("logprobs") or {}).get("content") or ()
        ids = choice.get("token_ids") or delta.get("token_ids") or [e["id"] for e in entries if "id" in e]
        self._token_ids += ids
        scores = [score(entry) for entry in entries]
        self._scores += scores
        self._prompt_ids = tuple(choice.get("prompt_token_ids") or ()) or self._prompt_ids
        self.started = self.started or bool(text or reasoning or delta.get("tool_calls") or ids or scores)

    def _call(self, call: dict[str, Any]) -> None:
        function = call.get("function") or {}
        gathered = self._calls.setdefault(call.get("index", len(self._calls)), ["", ""])
        gathered[0] += function.get("name") or ""
        gathered[1] += function.get("arguments") or ""


def score(entry: dict[str, Any]) -> TokenScore:
    """A log-probability entry in OpenAI's shape."""
    top = tuple((_name(likely), float32_bits(likely["logprob"])) for likely in entry.get("top_logprobs") or ())
    return TokenScore(_name(entry), float32_bits(entry["logprob"]), top)


def _name(entry: dict[str, Any]) -> str:
    """The token's text, or its bytes where that is no whole text, so that parts of characters are told apart."""
    text: str = entry["token"]
    return f"bytes {bytes(entry['bytes']).hex()}" if "\ufffd" in text and entry.get("bytes") else text
