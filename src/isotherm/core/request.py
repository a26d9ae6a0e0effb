"""What a caller asks of the engine, and what the engine answers with."""

from dataclasses import dataclass, field
from typing import Literal

from isotherm.core.sampling import SamplingParams

FinishReason = Literal["stop", "length", "abort", "error"]


@dataclass(frozen=True, slots=True)
class Request:
    """One sequence to continue. n choices of one call are n requests that differ in `choice` and `id`.

    prompt: token ids, at least one.
    seed: drawn by whoever builds the request when the caller gave none, so that it survives preemption.
    hint: a position that is likely to be shared with later prompts (the tokens before the first user message); 0 when
        there is none. The cache keeps a snapshot at its block boundary.
    cache_salt: requests with different salts never share a cached block.
    num_speculative_tokens: guesses at once for this request, at most; 0 for none, None for as many as the engine makes.
    """

    id: str
    prompt: tuple[int, ...]
    sampling: SamplingParams
    seed: int = 0
    choice: int = 0
    hint: int = 0
    cache_salt: str = ""
    skip_reading_prefix_cache: bool = False
    num_speculative_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token with its log-probability (natural, float32, of the raw logits), its rank from 1, and the likeliest tokens.

    top: (token id, log-probability), likeliest first, ties to the lower id; empty when none were asked for.
    """

    token: int
    logprob: float
    rank: int
    top: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Output:
    """What one engine step adds to one request.

    tokens: the tokens generated in this step, in order; `logprobs` has one entry for each when they were asked for.
    cached_tokens: prompt tokens that were not computed because the cache had them; set on the first output, else None.
    matched_tokens: prompt tokens whose blocks the cache held, restored or not; set with `cached_tokens`.
    prompt_logprobs: of prompt[1:], on the first output, when asked for.
    guessed: its token was a draft that proved right.
    finish_reason: set on the last output only. stop_reason: the stop string or stop token id that ended it.
    """

    request_id: str
    tokens: tuple[int, ...] = ()
    logprobs: tuple[TokenLogprob, ...] = ()
    prompt_logprobs: tuple[TokenLogprob, ...] | None = None
    cached_tokens: int | None = None
    matched_tokens: int | None = None
    guessed: bool = False
    finish_reason: FinishReason | None = None
    stop_reason: str | int | None = None
    error: str | None = field(default=None)
