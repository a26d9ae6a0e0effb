"""What a chat call's responses and chunks are made from."""

from dataclasses import dataclass
from typing import Any

from isotherm.server.call import Call
from isotherm.server.choice import ChoiceReader
from isotherm.server.logprobs import ChatLogprobs
from isotherm.server.token_text import TokenText
from isotherm.text.output import OutputParser, ToolFormatName
from isotherm.text.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class ChatShape:
    """tools: given when tool calls are looked for, in `tool_format`. reasoning: whether think tags are looked for.

    include_reasoning: whether reasoning is sent. token_ids: whether ids are sent. fingerprint: the build's.
    """

    call: Call
    tokenizer: Tokenizer
    token_text: TokenText
    fingerprint: str
    tools: list[dict[str, Any]] | None
    tool_format: ToolFormatName | None
    reasoning: bool
    include_reasoning: bool
    token_ids: bool
    as_ids: bool

    @property
    def logprobs(self) -> bool:
        """Whether log-probabilities are sent."""
        return self.call.prompts[0].sampling.logprobs is not None

    def writer(self) -> ChatLogprobs:
        """Writes log-probabilities."""
        return ChatLogprobs(self.token_text, self.as_ids)

    def readers(self) -> list[ChoiceReader]:
        """A fresh reader a choice."""
        return [self._reader() for _ in self.call.requests]

    def head(self, kind: str) -> dict[str, Any]:
        """The fields that begin a response or chunk; kind: its `object`."""
        call = self.call
        return {
            "id": call.id,
            "object": kind,
            "created": call.created,
            "model": call.model,
            "system_fingerprint": self.fingerprint,
        }

    def _reader(self) -> ChoiceReader:
        prompt = self.call.prompts[0]
        parser = None
        if self.tool_format is not None or self.reasoning:
            parser = OutputParser(self.tool_format, self.reasoning, self.reasoning and prompt.in_reasoning, self.tools)
        return ChoiceReader(self.tokenizer, prompt.sampling, parser)
