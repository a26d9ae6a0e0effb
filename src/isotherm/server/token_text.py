"""How single tokens are written in log-probabilities."""

from isotherm.core.vocabulary import Vocabulary


class TokenText:
    """A token's string and bytes, by id; ids beyond the vocabulary have none. Remembers what was asked for."""

    def __init__(self, vocabulary: Vocabulary):
        self._vocabulary = vocabulary
        self._strings: dict[int, str] = {}
        self._bytes: dict[int, list[int]] = {}

    def raw(self, token: int) -> bytes:
        """The bytes that the token adds to the text."""
        known = self._vocabulary.token_bytes
        return known[token] if token < len(known) else b""

    def string(self, token: int) -> str:
        """Its bytes as text; bytes that are not a whole character become U+FFFD."""
        found = self._strings.get(token)
        if found is None:
            found = self._strings[token] = self.raw(token).decode("utf-8", "replace")
        return found

    def bytes(self, token: int) -> list[int]:
        """Its bytes as numbers, as OpenAI's `bytes`. The list is shared: do not change it."""
        found = self._bytes.get(token)
        if found is None:
            found = self._bytes[token] = list(self.raw(token))
        return found

    def unique(self, token: int) -> str:
        """A string that tells tokens apart: text, or "bytes:\\xNN" for part of a character, as OpenAI's completions wrote it."""
        raw = self.raw(token)
        try:
            return raw.decode()
        except UnicodeDecodeError:
            return "bytes:" + "".join(f"\\x{byte:02x}" for byte in raw)


def by_id(token: int) -> str:
    """The token's name when the caller asked for ids in place of text (vLLM's return_tokens_as_token_ids)."""
    return f"token_id:{token}"
