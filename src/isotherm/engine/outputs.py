"""What LLM returns."""

from dataclasses import dataclass

from isotherm.core.request import FinishReason, TokenLogprob


@dataclass(frozen=True, slots=True)
class CompletionOutput:
    """One choice. logprobs has an entry for each of token_ids when they were asked for, else None."""

    index: int
    text: str
    token_ids: tuple[int, ...]
    logprobs: tuple[TokenLogprob, ...] | None
    finish_reason: FinishReason
    stop_reason: str | int | None


@dataclass(frozen=True, slots=True)
class RequestOutput:
    """One prompt's answer.

    prompt_logprobs: of prompt_token_ids[1:], when asked for. cached_tokens: prompt tokens that were not computed.
    first_token_s, total_s: seconds from submission to the first and to the last token of choice 0.
    """

    prompt_token_ids: tuple[int, ...]
    outputs: tuple[CompletionOutput, ...]
    prompt_logprobs: tuple[TokenLogprob, ...] | None
    cached_tokens: int
    first_token_s: float
    total_s: float
