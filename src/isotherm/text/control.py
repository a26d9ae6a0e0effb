"""Control tokens in what a user wrote: they are text, whatever they look like.

Before rendering, every control token in a user's strings has its first character replaced by a mark, a noncharacter of Unicode
that those strings do not contain; templates carry marks along like any character. Whatever control token is found in the
rendered text was therefore written by the template. The stretches between those are encoded as plain text, with the marks
turned back.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from isotherm.core.errors import RequestError
from isotherm.text.arguments import RawArray, RawObject, written
from isotherm.text.tokenizer import Tokenizer

_NONCHARACTERS = [chr(point) for point in range(0xFDD0, 0xFDF0)]


class ControlTokens:
    """A set of control tokens, and how to find them in a string."""

    def __init__(self, tokens: Iterable[str]):
        self.tokens = frozenset(token for token in tokens if token)
        longest_first = sorted(self.tokens, key=lambda token: (-len(token), token))
        self._whole = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        self._partial = frozenset(token[:n] for token in self.tokens for n in range(1, len(token)))
        self._longest = max(map(len, self.tokens), default=0)
        self.first = frozenset(token[0] for token in self.tokens)

    def mark(self, text: str, marks: dict[int, str]) -> str:
        """The text with the first characters of its control tokens replaced after `marks`.

        Also of a beginning of one at the text's end: the template's next character could complete it.
        """
        if not any(character in text for character in self.first):
            return text
        text = self._whole.sub(lambda match: match[0].translate(marks), text)
        body = len(text.rstrip())
        start = next((at for at in range(max(0, body - self._longest), body) if text[at:body] in self._partial), body)
        return text[:start] + text[start:].translate(marks)


class Marks:
    """The marks of one prompt: none of them occurs in its strings or in the template."""

    def __init__(self, first: frozenset[str], strings: Iterable[str], template: str):
        free = [mark for mark in _NONCHARACTERS if mark not in template]
        for text in strings:
            free = [mark for mark in free if mark not in text]
        if len(free) < len(first):
            raise RequestError("messages", "use too many Unicode noncharacters (U+FDD0..U+FDEF)")
        self.table = {ord(character): mark for character, mark in zip(sorted(first), free, strict=False)}
        self._back = {ord(mark): chr(point) for point, mark in self.table.items()}

    def unmark(self, text: str) -> str:
        """The text as the user wrote it."""
        return text.translate(self._back)

    def are_in(self, text: str) -> bool:
        """Whether rendered text has any."""
        return any(mark in text for mark in self.table.values())

    def encode(self, tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
        """Token ids of rendered text that has marks: the template's added tokens, and plain text between them."""
        ids: list[int] = []
        done = 0
        for id, start, end in [*tokenizer.added_spans(text), (-1, len(text), len(text))]:
            ids += self._stretch(tokenizer, text[done:start])
            if id >= 0:
                ids.append(id)
            done = end
        return tuple(ids)

    def _stretch(self, tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
        ids = tokenizer.encode(self.unmark(text), special=False)
        aliased = next((id for id in ids if id in tokenizer.added), None)
        if aliased is not None:
            raise RequestError(
                "messages", f"{tokenizer.added[aliased]!r} cannot be written as plain text in this vocabulary"
            )
        return ids


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings(key)
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def mark_value(value: Any, tokens: ControlTokens, marks: dict[int, str]) -> Any:
    """A copy of a JSON value whose strings, keys included, are marked."""
    if isinstance(value, str):
        return tokens.mark(value, marks)
    if isinstance(value, dict):
        items = {mark_value(key, tokens, marks): mark_value(item, tokens, marks) for key, item in value.items()}
        return RawObject(items, tokens.mark(written(value), marks)) if isinstance(value, RawObject) else items
    if isinstance(value, list):
        listed = [mark_value(item, tokens, marks) for item in value]
        return RawArray(listed, tokens.mark(written(value), marks)) if isinstance(value, RawArray) else listed
    return value
