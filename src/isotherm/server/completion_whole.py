"""A completion call's response when it is not streamed."""

from dataclasses import dataclass, field
from typing import Any

from isotherm.core.request import Output, TokenLogprob
from isotherm.server.completion_shape import CompletionChoice, CompletionShape
from isotherm.server.usage import Usage


@dataclass(slots=True)
class _Text:
    """One choice as it grows."""

    choice: CompletionChoice
    text: list[str] = field(default_factory=list)
    items: list[TokenLogprob | int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    prompt_scores: tuple[TokenLogprob, ...] | None = None
    last: Output | None = None


class CompletionWhole:
    """Gathers outputs; see shape.Whole."""

    def __init__(self, shape: CompletionShape):
        self._shape = shape
        self._texts = [_Text(CompletionChoice(shape, index)) for index in range(len(shape.call.requests))]

    def read(self, index: int, output: Output) -> None:
        """See shape.Whole."""
        text = self._texts[index]
        piece, items = text.choice.read(output)
        text.text.append(piece)
        text.items += items
        text.tokens += output.tokens
        text.prompt_scores = output.prompt_logprobs if text.last is None else text.prompt_scores
        text.last = output

    def body(self, usage: Usage) -> dict[str, Any]:
        """See shape.Whole."""
        body = self._shape.head()
        body["choices"] = [self._choice(index, text) for index, text in enumerate(self._texts)]
        body["usage"] = usage.body()
        if self._shape.token_ids and len(self._shape.call.prompts) == 1:
            body["prompt_token_ids"] = self._shape.call.prompts[0].tokens
        return body

    def _choice(self, index: int, text: _Text) -> dict[str, Any]:
        choice = {
            "index": index,
            "text": "".join(text.text),
            "logprobs": text.choice.block(text.items) if self._shape.logprobs else None,
            "finish_reason": text.last.finish_reason if text.last else None,
            "stop_reason": text.last.stop_reason if text.last else None,
            **text.choice.prompt_fields(text.prompt_scores),
        }
        if self._shape.token_ids:
            choice["token_ids"] = text.tokens
        return choice
