"""Log-probabilities in OpenAI's and vLLM's shapes.

A float32 log-probability is sent as the double of the same value, so a client that reads it back has the same bits.
Minus infinity, which JSON lacks, is sent as -9999.0, as vLLM does.
"""

import codecs
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from isotherm.core.request import TokenLogprob
from isotherm.server.token_text import TokenText, by_id

LOWEST = -9999.0


def finite(logprob: float) -> float:
    """`logprob`, or -9999.0 in place of minus infinity."""
    return logprob if logprob > LOWEST else LOWEST


class ChatLogprobs:
    """Entries of a chat choice's `logprobs.content`."""

    def __init__(self, text: TokenText, as_ids: bool):
        self._text = text
        self._name: Callable[[int], str] = by_id if as_ids else text.string

    def entries(self, logprobs: Iterable[TokenLogprob]) -> list[dict[str, Any]]:
        """One entry a token: the token, then the likeliest tokens, likeliest first."""
        return [
            {**self._entry(item.token, item.logprob), "top_logprobs": [self._entry(*pair) for pair in item.top]}
            for item in logprobs
        ]

    def _entry(self, token: int, logprob: float) -> dict[str, Any]:
        return {"token": self._name(token), "logprob": finite(logprob), "bytes": self._text.bytes(token)}


class CompletionLogprobs:
    """A completion choice's `logprobs`. Stateful: text offsets run on, from `offset` characters.

    skipped: ids whose bytes are not part of the text.
    """

    def __init__(self, text: TokenText, as_ids: bool, skipped: frozenset[int], offset: int = 0):
        self._text = text
        self._name: Callable[[int], str] = by_id if as_ids else text.unique
        self._skipped = skipped
        self._offset = offset
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def block(self, items: Sequence[TokenLogprob | int]) -> dict[str, Any]:
        """Four lists of equal length. An item that is a bare token id has no log-probability: the prompt's first token."""
        tokens, values, tops, offsets = [], [], [], []
        for item in items:
            token = item if isinstance(item, int) else item.token
            tokens.append(self._name(token))
            offsets.append(self._offset)
            values.append(None if isinstance(item, int) else finite(item.logprob))
            tops.append(None if isinstance(item, int) else self._top(item))
            if token not in self._skipped:
                self._offset += len(self._decoder.decode(self._text.raw(token)))
        return {"tokens": tokens, "token_logprobs": values, "top_logprobs": tops, "text_offset": offsets}

    def _top(self, item: TokenLogprob) -> dict[str, float]:
        """The likeliest tokens and the chosen one, by name; of two tokens with one name the likelier stays."""
        named: dict[str, float] = {}
        for token, logprob in (*item.top, (item.token, item.logprob)):
            named.setdefault(self._name(token), finite(logprob))
        return named


def prompt_logprobs(logprobs: Sequence[TokenLogprob], text: TokenText) -> list[dict[str, Any] | None]:
    """vLLM's `prompt_logprobs`: null for the first token, then {id: {logprob, rank, decoded_token}}, the prompt's own first."""
    return [None, *(_ranked(item, text) for item in logprobs)]


def _ranked(item: TokenLogprob, text: TokenText) -> dict[str, Any]:
    def entry(token: int, logprob: float, rank: int) -> dict[str, Any]:
        return {"logprob": finite(logprob), "rank": rank, "decoded_token": text.string(token)}

    ranked = {str(item.token): entry(item.token, item.logprob, item.rank)}
    for rank, (token, logprob) in enumerate(item.top, start=1):
        ranked.setdefault(str(token), entry(token, logprob, rank))
    return ranked
