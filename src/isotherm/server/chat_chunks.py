"""A chat call's stream."""

from typing import Any

from isotherm.core.request import Output
from isotherm.server.chat_shape import ChatShape
from isotherm.server.choice import tool_call_bodies
from isotherm.text.delta import Delta


class ChatChunks:
    """Writes outputs as chunks; see shape.Chunks.

    A choice's first chunk has its role, its last the finish reason and nothing else. Log-probabilities and token ids are sent
    with the output they belong to, also when its text is still held back.
    """

    def __init__(self, shape: ChatShape):
        self._shape = shape
        self._readers = shape.readers()
        self._writer = shape.writer()
        self._begun = [False] * len(self._readers)
        self._any_begun = False

    def head(self) -> dict[str, Any]:
        """See shape.Chunks."""
        return {**self._shape.head("chat.completion.chunk"), "choices": []}

    def read(self, index: int, output: Output) -> list[dict[str, Any]]:
        """See shape.Chunks."""
        chunks = [] if self._begun[index] else [self._begin(index)]
        reader = self._readers[index]
        choice = self._choice(index, self._delta(reader.read(output)))
        if self._annotate(choice, output) or choice["delta"]:
            chunks.append(self._chunk(choice))
        if output.finish_reason is not None:
            last = self._choice(index, {})
            last["finish_reason"] = reader.finish_reason(output)
            last["stop_reason"] = output.stop_reason
            chunks.append(self._chunk(last))
        return chunks

    def _annotate(self, choice: dict[str, Any], output: Output) -> bool:
        """Add what is told of each token; whether there was anything to add."""
        scored = self._shape.logprobs and bool(output.logprobs)
        if scored:
            choice["logprobs"] = {"content": self._writer.entries(output.logprobs), "refusal": None}
        named = self._shape.token_ids and bool(output.tokens)
        if named:
            choice["token_ids"] = output.tokens
        return scored or named

    def _begin(self, index: int) -> dict[str, Any]:
        self._begun[index] = True
        chunk = self._chunk(self._choice(index, {"role": "assistant", "content": ""}))
        if self._shape.token_ids and not self._any_begun:
            chunk["prompt_token_ids"] = self._shape.call.prompts[0].tokens
        self._any_begun = True
        return chunk

    def _chunk(self, choice: dict[str, Any]) -> dict[str, Any]:
        return {**self._shape.head("chat.completion.chunk"), "choices": [choice]}

    def _choice(self, index: int, delta: dict[str, Any]) -> dict[str, Any]:
        return {"index": index, "delta": delta, "logprobs": None, "finish_reason": None}

    def _delta(self, delta: Delta) -> dict[str, Any]:
        body: dict[str, Any] = {}
        if delta.reasoning and self._shape.include_reasoning:
            body["reasoning_content"] = body["reasoning"] = delta.reasoning
        if delta.content:
            body["content"] = delta.content
        if delta.tool_calls:
            body["tool_calls"] = tool_call_bodies(delta)
        return body
