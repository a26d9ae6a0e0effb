"""JSON read a character at a time: where a value ends, and whether it still is JSON."""

import re

_SPACE = " \t\r\n"
_CLOSING = {"{": "}", "[": "]"}
_SCALAR = re.compile(r"true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_SCALAR_CHARACTERS = frozenset("truefalsn0123456789+-.eE")
_HEX = frozenset("0123456789abcdefABCDEF")


class JsonScanner:
    """Follows one object, array or string. `done` is True once it is whole.

    Control characters inside strings are accepted, since models write them; otherwise the grammar is RFC 8259's.
    """

    def __init__(self) -> None:
        self.done = False
        self._open = ""
        self._expect = "value"
        self._scalar = ""
        self._in_string = False
        self._escape = ""

    def feed(self, character: str) -> bool:
        """Whether the text is still the beginning of a value; the character is part of it."""
        if self._in_string:
            return self._string(character)
        if self._scalar:
            if character in _SCALAR_CHARACTERS:
                self._scalar += character
                return True
            if not _SCALAR.fullmatch(self._scalar):
                return False
            self._scalar = ""
            self._expect = "comma"
        return character in _SPACE or self._structure(character)

    def _string(self, character: str) -> bool:
        if self._escape:
            return self._escaped(character)
        if character == "\\":
            self._escape = character
        elif character == '"':
            self._in_string = False
            self._expect = "colon" if self._expect in ("key", "key_or_close") else "comma"
            self.done = not self._open
        return True

    def _escaped(self, character: str) -> bool:
        self._escape += character
        if len(self._escape) == 2:
            if character != "u":
                self._escape = ""
            return character in '"\\/bfnrtu'
        if len(self._escape) == 6:
            self._escape = ""
        return character in _HEX

    def _structure(self, character: str) -> bool:
        expect = self._expect
        if (
            self._open
            and character == _CLOSING[self._open[-1]]
            and expect in ("comma", "value_or_close", "key_or_close")
        ):
            self._open = self._open[:-1]
            self._expect = "comma"
            self.done = not self._open
            return True
        if expect == "comma":
            self._expect = "key" if self._open.endswith("{") else "value"
            return character == ","
        if expect == "colon":
            self._expect = "value"
            return character == ":"
        if character == '"':
            self._in_string = True
            return True
        return expect not in ("key", "key_or_close") and self._value(character)

    def _value(self, character: str) -> bool:
        if character in _CLOSING:
            self._open += character
            self._expect = "key_or_close" if character == "{" else "value_or_close"
            return True
        self._scalar = character
        return bool(self._open) and character in _SCALAR_CHARACTERS
