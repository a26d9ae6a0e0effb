"""What the engine must know of the tokenizer: bytes and special ids, enough to end a sequence; no tokenising."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """token_bytes: the bytes that a token adds to the text, by id. special_ids: tokens left out of text when they are skipped.

    eos_ids: tokens that end a sequence unless the request ignores them.
    """

    token_bytes: tuple[bytes, ...]
    special_ids: frozenset[int]
    eos_ids: tuple[int, ...]
