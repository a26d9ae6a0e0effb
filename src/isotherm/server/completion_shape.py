"""What a completion call's responses and chunks are made from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from isotherm.core.request import Output, TokenLogprob
from isotherm.server.call import Call
from isotherm.server.choice import ChoiceReader
from isotherm.server.logprobs import CompletionLogprobs, prompt_logprobs
from isotherm.server.token_text import TokenText
from isotherm.text.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class CompletionShape:
    """echo: the text begins with the prompt's. logprobs: whether they are sent; with echo, the prompt's too.

    prompt_logprobs: whether vLLM's are sent. token_ids: whether ids are sent. fingerprint: the build's.
    """

    call: Call
    tokenizer: Tokenizer
    token_text: TokenText
    fingerprint: str
    echo: bool
    logprobs: bool
    prompt_logprobs: bool
    token_ids: bool
    as_ids: bool

    def head(self) -> dict[str, Any]:
        """The fields that begin a response or chunk."""
        call = self.call
        return {
            "id": call.id,
            "object": "text_completion",
            "created": call.created,
            "model": call.model,
            "system_fingerprint": self.fingerprint,
        }


class CompletionChoice:
    """One choice: turns outputs into text and log-probability blocks. With echo the first output brings the prompt too."""

    def __init__(self, shape: CompletionShape, index: int):
        prompt = shape.call.prompt(index)
        self._shape = shape
        self._prompt = prompt
        self._reader = ChoiceReader(shape.tokenizer, prompt.sampling, None)
        self._begun = False
        skipped = shape.tokenizer.vocabulary.special_ids if prompt.sampling.skip_special_tokens else frozenset[int]()
        self._writer = CompletionLogprobs(shape.token_text, shape.as_ids, skipped)

    def read(self, output: Output) -> tuple[str, list[TokenLogprob | int]]:
        """The text and the items for `block` that an output adds."""
        text = self._reader.read(output).content
        items: list[TokenLogprob | int] = list(output.logprobs)
        if self._shape.echo and not self._begun:
            text = self._prompt.text + text
            items = [self._prompt.tokens[0], *(output.prompt_logprobs or ()), *items]
        self._begun = True
        return text, items

    def block(self, items: Sequence[TokenLogprob | int]) -> dict[str, Any]:
        """The `logprobs` of consecutive items."""
        return self._writer.block(items)

    def prompt_fields(self, scores: tuple[TokenLogprob, ...] | None) -> dict[str, Any]:
        """What a choice says of its prompt: its log-probabilities and its ids, when asked for."""
        fields: dict[str, Any] = {}
        if self._shape.prompt_logprobs and scores is not None:
            fields["prompt_logprobs"] = prompt_logprobs(scores, self._shape.token_text)
        if self._shape.token_ids:
            fields["prompt_token_ids"] = self._prompt.tokens
        return fields
