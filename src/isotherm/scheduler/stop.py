"""Where a sequence ends by what was generated: end tokens, and stop strings matched on bytes."""

from dataclasses import dataclass

from isotherm.core.request import FinishReason
from isotherm.core.sampling import SamplingParams
from isotherm.core.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a sequence ended. stop_reason: the stop string or stop token id; None for an end-of-sequence token or the length."""

    finish_reason: FinishReason
    stop_reason: str | int | None = None


class StopMatcher:
    """Told of each generated token in turn. The first `min_tokens` tokens cannot end the sequence.

    Bytes are those the tokens add to the text; special tokens add none when they are skipped. Of several stop strings, the one
    that ends first counts, then the longest: so the outcome does not depend on how the text was cut into tokens.
    """

    def __init__(self, params: SamplingParams, vocabulary: Vocabulary):
        self._vocabulary = vocabulary
        self._min_tokens = params.min_tokens
        self._eos = frozenset(() if params.ignore_eos else vocabulary.eos_ids)
        self._stop_ids = frozenset(params.stop_token_ids)
        self._stops = tuple((text, text.encode()) for text in params.stop)
        self._keep = max((len(needle) for _, needle in self._stops), default=1) - 1
        self._skipped = vocabulary.special_ids if params.skip_special_tokens else frozenset()
        self._tail = b""
        self._count = 0
        self._forbidden = tuple(sorted({*vocabulary.eos_ids, *params.stop_token_ids}))

    def banned_after(self, more: int) -> tuple[int, ...]:
        """Tokens that the choice after `more` tokens must exclude, since they would end the sequence too early."""
        return self._forbidden if self._count + more < self._min_tokens else ()

    def push(self, token: int) -> Ending | None:
        """The ending that `token` brings, if any."""
        may_end = self._count >= self._min_tokens
        self._count += 1
        matched = self._match(token) if self._stops else None
        if not may_end:
            return None
        if token in self._eos:
            return Ending("stop")
        if token in self._stop_ids:
            return Ending("stop", token)
        return Ending("stop", matched) if matched is not None else None

    def _match(self, token: int) -> str | None:
        if token in self._skipped or token >= len(self._vocabulary.token_bytes):
            return None
        old = len(self._tail)
        window = self._tail + self._vocabulary.token_bytes[token]
        found: list[tuple[int, int, str]] = []
        for text, needle in self._stops:
            at = window.find(needle, max(0, old - len(needle) + 1))
            if at >= 0:
                found.append((at + len(needle), -len(needle), text))
        self._tail = window[max(0, len(window) - self._keep) :]
        return min(found)[2] if found else None
