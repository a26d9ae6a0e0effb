"""The body of POST /v1/completions."""

from isotherm.server.body import GenerationBody


class CompletionBody(GenerationBody):
    """prompt: text, token ids, or a list of either. logprobs: how many of the likeliest tokens to report."""

    prompt: str | list[int] | list[str] | list[list[int]]
    logprobs: int | None = None
    echo: bool | None = None
