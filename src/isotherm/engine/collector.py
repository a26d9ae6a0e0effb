"""Gathers the engine's step outputs of one request into its whole answer."""

import time
from dataclasses import dataclass, field

from isotherm.core.errors import NumericsError
from isotherm.core.request import Output, Request, TokenLogprob
from isotherm.engine.outputs import CompletionOutput
from isotherm.text.detokenizer import Detokenizer
from isotherm.text.stop import StopHold
from isotherm.text.tokenizer import Tokenizer


@dataclass(slots=True)
class Collector:
    """Mutable while its request runs; owned by one LLM call."""

    request: Request
    started: float = field(default_factory=time.perf_counter)
    first: float = 0.0
    ended: float = 0.0
    tokens: list[int] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    prompt_logprobs: tuple[TokenLogprob, ...] | None = None
    cached_tokens: int = 0
    last: Output | None = None

    def add(self, output: Output) -> None:
        """Take one step's output. Raises NumericsError when the request failed."""
        if output.tokens and not self.tokens:
            self.first = time.perf_counter() - self.started
        self.tokens += output.tokens
        self.logprobs += output.logprobs
        self.prompt_logprobs = output.prompt_logprobs or self.prompt_logprobs
        self.cached_tokens = output.cached_tokens or self.cached_tokens
        if output.finish_reason is not None:
            self.ended = time.perf_counter() - self.started
            self.last = output
        if output.finish_reason == "error":
            raise NumericsError(f"{self.request.id}: {output.error}")

    def completion(self, tokenizer: Tokenizer) -> CompletionOutput:
        """The finished choice, its text cut where a stop string matched."""
        assert self.last is not None and self.last.finish_reason is not None
        sampling = self.request.sampling
        detokenizer = Detokenizer(tokenizer, sampling.skip_special_tokens)
        hold = StopHold(sampling.stop, sampling.include_stop_str_in_output)
        matched = self.last.stop_reason if isinstance(self.last.stop_reason, str) else None
        text = hold.push(detokenizer.push(self.tokens) + detokenizer.flush()) + hold.finish(matched)
        return CompletionOutput(
            index=self.request.choice,
            text=text,
            token_ids=tuple(self.tokens),
            logprobs=tuple(self.logprobs) if sampling.logprobs is not None else None,
            finish_reason=self.last.finish_reason,
            stop_reason=self.last.stop_reason,
        )
