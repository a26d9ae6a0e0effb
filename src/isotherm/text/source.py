"""Text that arrives in pieces, read by parsers that look ahead as far as they need.

A parser is a generator that yields when it must see more text than there is. Its decisions depend on the text alone, so that
what it finds is the same however the text was cut.
"""

import re
from collections.abc import Callable, Generator
from typing import TypeVar

T = TypeVar("T")
Steps = Generator[None, None, T]
"""A parser that yields when it needs more text, and returns a T."""

_SPACE = " \t\r\n"
_NEWLINE_OR_TAG = re.compile(r"[\n<]")


class Source:
    """The text that has arrived and is not consumed. Offsets count from its start, so lookahead consumes nothing."""

    def __init__(self) -> None:
        self._text = ""
        self._consumed = 0
        self.ended = False

    def push(self, text: str) -> None:
        """Adds text."""
        self._text = self._text[self._consumed :] + text
        self._consumed = 0

    @property
    def arrived(self) -> int:
        """How many characters have arrived and are not consumed."""
        return len(self._text) - self._consumed

    def piece(self, start: int, end: int) -> str:
        """Characters that have arrived, from one offset up to another."""
        return self._text[self._consumed + start : self._consumed + end]

    def take(self, count: int) -> str:
        """Consumes characters that have arrived."""
        taken = self.piece(0, count)
        self._consumed += len(taken)
        return taken

    def char(self, at: int) -> Steps[str]:
        """The character at an offset, "" at the end of all text."""
        while at >= self.arrived and not self.ended:
            yield
        return self.piece(at, at + 1)

    def literal(self, at: int, expected: str) -> Steps[bool]:
        """Whether `expected` stands at an offset; False as soon as it cannot."""
        while True:
            found = self.piece(at, at + len(expected))
            if found == expected:
                return True
            if self.ended or not expected.startswith(found):
                return False
            yield

    def space(self, at: int) -> Steps[int]:
        """The offset after any whitespace."""
        while (character := (yield from self.char(at))) and character in _SPACE:
            at += 1
        return at

    def name(self, at: int) -> Steps[str]:
        """The text before the next ">", "" when there is none before a "<", a newline or the end."""
        start = at
        while (character := (yield from self.char(at))) != ">":
            if not character or character in "<\n":
                return ""
            at += 1
        return self.piece(start, at)

    def until(self, tag: str, emit: Callable[[str], None]) -> Steps[int]:
        """Emits text up to `tag` and the newlines right before it, which stay unconsumed: their number is returned.

        -1 when the text ended without the tag; then all of it was emitted.
        """
        while True:
            plain = self.plain()
            if plain:
                emit(self.take(plain))
            if not self.arrived:
                if self.ended:
                    return -1
                yield
                continue
            run = 0
            while (yield from self.char(run)) == "\n":
                run += 1
            if (yield from self.literal(run, tag)):
                return run
            emit(self.take(run or 1))

    def plain(self) -> int:
        """How many of the characters that have arrived precede the first newline or "<"."""
        found = _NEWLINE_OR_TAG.search(self._text, self._consumed)
        return found.start() - self._consumed if found else self.arrived
