"""A completion call's stream."""

from typing import Any

from isotherm.core.request import Output
from isotherm.server.completion_shape import CompletionChoice, CompletionShape


class CompletionChunks:
    """Writes outputs as chunks; see shape.Chunks. A choice's last chunk has its finish reason."""

    def __init__(self, shape: CompletionShape):
        self._shape = shape
        self._choices = [CompletionChoice(shape, index) for index in range(len(shape.call.requests))]
        self._begun = [False] * len(self._choices)

    def head(self) -> dict[str, Any]:
        """See shape.Chunks."""
        return {**self._shape.head(), "choices": []}

    def read(self, index: int, output: Output) -> list[dict[str, Any]]:
        """See shape.Chunks."""
        choice = self._choices[index]
        text, items = choice.read(output)
        body: dict[str, Any] = {
            "index": index,
            "text": text,
            "logprobs": choice.block(items) if self._shape.logprobs and items else None,
            "finish_reason": output.finish_reason,
        }
        if output.finish_reason is not None:
            body["stop_reason"] = output.stop_reason
        if self._shape.token_ids and output.tokens:
            body["token_ids"] = output.tokens
        if not self._begun[index]:
            body.update(choice.prompt_fields(None))
        elif not (text or output.finish_reason or body["logprobs"] or "token_ids" in body):
            return []
        self._begun[index] = True
        return [{**self._shape.head(), "choices": [body]}]
