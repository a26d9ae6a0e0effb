"""From a body's fields to SamplingParams."""

import secrets
from dataclasses import dataclass
from typing import TypeVar

from isotherm.core.sampling import MAX_LOGPROBS, SamplingParams
from isotherm.server.body import GenerationBody
from isotherm.server.chat_body import ChatBody
from isotherm.server.completion_body import CompletionBody
from isotherm.server.defaults import SamplingDefaults
from isotherm.server.errors import bad_request

T = TypeVar("T")

MAX_CHOICES = 128
MAX_BIAS = 100.0
COMPLETION_TOKENS = 16
"""What OpenAI's completions endpoint generates when max_tokens is not given."""


@dataclass(frozen=True, slots=True)
class Budget:
    """max_tokens as the caller gave it (None when not), under the name that was used."""

    value: int | None
    name: str = "max_tokens"

    def resolve(self, prompt_tokens: int, context: int, default: int | None, prompt_param: str) -> int:
        """How many tokens may be generated. Raises ApiError (context_length_exceeded) when prompt and answer do not fit.

        A limit that the caller did not choose is cut to what is left of the context.
        """
        left = context - prompt_tokens
        if left < 1:
            message = f"the prompt has {prompt_tokens} tokens; the context of {context} must hold it and one more"
            raise bad_request(prompt_param, message, "context_length_exceeded")
        if self.value is None:
            return left if default is None else min(default, left)
        if self.value < 1:
            raise bad_request(self.name, f"{self.name} must be at least 1, got {self.value}")
        if self.value > left:
            message = f"{self.value} tokens after a prompt of {prompt_tokens} exceed the context of {context}"
            raise bad_request(self.name, message, "context_length_exceeded")
        return self.value


def chat_budget(body: ChatBody) -> Budget:
    """max_completion_tokens, or max_tokens, its older name. Raises ApiError when both are given and differ."""
    if body.max_completion_tokens is None:
        return Budget(body.max_tokens)
    if body.max_tokens not in (None, body.max_completion_tokens):
        raise bad_request("max_tokens", "max_tokens and max_completion_tokens contradict each other")
    return Budget(body.max_completion_tokens, "max_completion_tokens")


def chat_logprobs(body: ChatBody) -> int | None:
    """How many likeliest tokens to report beside the chosen one; None for no log-probabilities."""
    top = body.top_logprobs
    if top is not None and not 0 <= top <= MAX_LOGPROBS:
        raise bad_request("top_logprobs", f"top_logprobs must be between 0 and {MAX_LOGPROBS}, got {top}")
    if top and not body.logprobs:
        raise bad_request("top_logprobs", "top_logprobs needs logprobs to be true")
    return (top or 0) if body.logprobs else None


def choices(body: GenerationBody) -> int:
    """n. Raises ApiError outside 1..128."""
    n = 1 if body.n is None else body.n
    if not 1 <= n <= MAX_CHOICES:
        raise bad_request("n", f"n must be between 1 and {MAX_CHOICES}, got {n}")
    return n


def draw_seed(body: GenerationBody) -> int:
    """The seed of all choices of one call: the caller's, or 63 random bits."""
    return secrets.randbits(63) if body.seed is None else body.seed


def sampling_params(
    body: ChatBody | CompletionBody,
    defaults: SamplingDefaults,
    vocab_size: int,
    max_tokens: int,
    logprobs: int | None,
    prompt_logprobs: int | None,
) -> SamplingParams:
    """The request's parameters; what it does not say is the checkpoint's default. Raises RequestError or ApiError."""
    top_k = _or(body.top_k, defaults.top_k)
    return SamplingParams(
        temperature=_or(body.temperature, defaults.temperature),
        top_p=_or(body.top_p, defaults.top_p),
        top_k=0 if top_k == -1 else top_k,
        min_p=_or(body.min_p, defaults.min_p),
        presence_penalty=_or(body.presence_penalty, 0.0),
        frequency_penalty=_or(body.frequency_penalty, 0.0),
        repetition_penalty=_or(body.repetition_penalty, defaults.repetition_penalty),
        seed=body.seed,
        max_tokens=max_tokens,
        min_tokens=_or(body.min_tokens, 0),
        stop=_stop(body.stop),
        stop_token_ids=_ids(body.stop_token_ids, vocab_size),
        ignore_eos=_or(body.ignore_eos, False),
        include_stop_str_in_output=_or(body.include_stop_str_in_output, False),
        skip_special_tokens=_or(body.skip_special_tokens, True),
        logprobs=logprobs,
        prompt_logprobs=prompt_logprobs,
        logit_bias=_bias(body.logit_bias, vocab_size),
    )


def _or(value: T | None, default: T) -> T:
    return default if value is None else value


def _stop(stop: str | list[str] | None) -> tuple[str, ...]:
    if stop is None:
        return ()
    return (stop,) if isinstance(stop, str) else tuple(stop)


def _ids(ids: list[int] | None, vocab_size: int) -> tuple[int, ...]:
    for token in ids or ():
        if not 0 <= token < vocab_size:
            raise bad_request("stop_token_ids", f"{token} is not a token id: the vocabulary has {vocab_size}")
    return tuple(ids or ())


def _bias(bias: dict[str, float] | None, vocab_size: int) -> tuple[tuple[int, float], ...]:
    pairs: dict[int, float] = {}
    for key, value in (bias or {}).items():
        if not (key.isascii() and key.isdigit() and len(key) < 12 and int(key) < vocab_size):
            raise bad_request("logit_bias", f"{key!r} is not a token id: the vocabulary has {vocab_size}")
        if not -MAX_BIAS <= value <= MAX_BIAS:
            raise bad_request("logit_bias", f"a bias must be between -100 and 100, got {value}")
        pairs[int(key)] = value
    return tuple(sorted(pairs.items()))
