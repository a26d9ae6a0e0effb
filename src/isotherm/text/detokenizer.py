"""Token ids to text, a few at a time."""

import codecs
from collections.abc import Iterable

from isotherm.text.tokenizer import Tokenizer


class Detokenizer:
    """Turns one sequence's ids into text as they arrive; owned by that sequence.

    The pieces add up to `Tokenizer.decode` of all ids, however they were cut. Bytes that may yet become a character are held.
    """

    def __init__(self, tokenizer: Tokenizer, skip_special: bool):
        self._tokenizer = tokenizer
        self._skip_special = skip_special
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, ids: Iterable[int]) -> str:
        """The whole characters that are complete now."""
        return self._decoder.decode(self._tokenizer.decode_bytes(ids, self._skip_special))

    def flush(self) -> str:
        """The end: held bytes become U+FFFD."""
        return self._decoder.decode(b"", final=True)
