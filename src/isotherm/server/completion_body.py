"""The body of POST /v1/completions."""

from typing import Literal

from isotherm.server.body import GenerationBody


class CompletionBody(GenerationBody):
    """prompt: text, token ids, or a list of either. logprobs: how many of the likeliest tokens to report.

    add_special_tokens: text is tokenised by the tokenizer's own rules, which may add a beginning.
    """

    prompt: str | list[int] | list[str] | list[list[int]]
    logprobs: int | None = None
    echo: bool | None = None
    add_special_tokens: Literal[True] | None = None
