"""One choice: from engine outputs to text, reasoning and tool calls."""

from typing import Any

from isotherm.core.request import Output
from isotherm.core.sampling import SamplingParams
from isotherm.text.delta import Delta
from isotherm.text.detokenizer import Detokenizer
from isotherm.text.output import OutputParser
from isotherm.text.stop import StopHold
from isotherm.text.tokenizer import Tokenizer


class ChoiceReader:
    """Token ids become whole characters, then text that no stop string can still take back, then parts of a message.

    The same for streams and whole answers, so that both say the same. parser: None where text is not parsed.
    """

    def __init__(self, tokenizer: Tokenizer, sampling: SamplingParams, parser: OutputParser | None):
        self._detokenizer = Detokenizer(tokenizer, sampling.skip_special_tokens)
        self._hold = StopHold(sampling.stop, sampling.include_stop_str_in_output)
        self._keep_end = sampling.include_stop_str_in_output
        self._parser = parser
        self._called = False

    def read(self, output: Output) -> Delta:
        """What this output adds to the message; the last one brings everything that was held back."""
        text = self._detokenizer.push(self._text_tokens(output))
        if output.finish_reason is None:
            return self._parse(self._hold.push(text))
        text = self._hold.push(text + self._detokenizer.flush())
        text += self._hold.finish(output.stop_reason if isinstance(output.stop_reason, str) else None)
        return self._finish(self._parse(text))

    def finish_reason(self, output: Output) -> str | None:
        """OpenAI's word for why the choice ended: "tool_calls" when it ended by itself after calls."""
        return "tool_calls" if output.finish_reason == "stop" and self._called else output.finish_reason

    def _text_tokens(self, output: Output) -> tuple[int, ...]:
        """Without the token that ended the choice, which is not text unless the caller wants it."""
        by_token = output.finish_reason == "stop" and not isinstance(output.stop_reason, str)
        return output.tokens[:-1] if by_token and not self._keep_end else output.tokens

    def _parse(self, text: str) -> Delta:
        delta = Delta(text, "", ()) if self._parser is None else self._parser.push(text)
        self._called = self._called or bool(delta.tool_calls)
        return delta

    def _finish(self, delta: Delta) -> Delta:
        if self._parser is None:
            return delta
        last = self._parser.finish()
        self._called = self._called or bool(last.tool_calls)
        return Delta(
            delta.content + last.content, delta.reasoning + last.reasoning, (*delta.tool_calls, *last.tool_calls)
        )


def tool_call_bodies(delta: Delta) -> list[dict[str, Any]]:
    """OpenAI's `delta.tool_calls`: at most one entry a call, its id and name where the call begins."""
    merged: dict[int, dict[str, Any]] = {}
    for part in delta.tool_calls:
        body = merged.setdefault(part.index, {"index": part.index, "function": {"arguments": ""}})
        if part.id:
            body["id"], body["type"] = part.id, "function"
        if part.name:
            body["function"]["name"] = part.name
        body["function"]["arguments"] += part.arguments or ""
    return list(merged.values())
