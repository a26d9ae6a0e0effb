"""One response as the gate keeps it: everything that is compared, and what was measured beside it."""

import struct
from dataclasses import dataclass


def float32_bits(value: float) -> int:
    """The bits of `value` as a float32. Servers print float32 numbers in full, so nothing is lost on the way."""
    try:
        return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return int.from_bytes(struct.pack("<d", value), "little")


def float32_value(bits: int) -> float:
    """The number that has these float32 bits."""
    return float(struct.unpack("<f", (bits & 0xFFFFFFFF).to_bytes(4, "little"))[0])


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the server gave it. arguments: the raw text. The id is left out: servers draw it at random."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class TokenScore:
    """A token's log-probability and those of the likeliest tokens, each as float32 bits; likeliest first."""

    token: str
    bits: int
    top: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, or the reason why there is none (`error`).

    completion_tokens: the server's own count of generated tokens. cached_tokens: None when the server does not say.
    drafts_accepted: tokens that the server says were drafts first.
    ttft_s: from sending to the first chunk with a token in it. total_s: to the end of the stream.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    prompt_ids: tuple[int, ...] = ()
    token_ids: tuple[int, ...] = ()
    scores: tuple[TokenScore, ...] = ()
    completion_tokens: int = 0
    cached_tokens: int | None = None
    drafts_accepted: int = 0
    ttft_s: float | None = None
    total_s: float = 0.0
    error: str | None = None
