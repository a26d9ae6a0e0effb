"""Command lines without what must not be shown."""

import re
from collections.abc import Sequence

_SECRET_OPTIONS = ("--api-key", "--extra-header")
_KEY = re.compile(r"(--api-key[= ]+)\S+")
_CREDENTIALS = re.compile(r"(://)[^/@\s]+@")


def without_secrets(words: Sequence[str]) -> tuple[str, ...]:
    """A command line's words, with keys, headers and the credentials in URLs replaced by ***."""
    shown: list[str] = []
    for word in words:
        option, equals, _ = word.partition("=")
        if shown and shown[-1] in _SECRET_OPTIONS:
            shown.append("***")
        elif equals and option in _SECRET_OPTIONS:
            shown.append(f"{option}=***")
        else:
            shown.append(_CREDENTIALS.sub(r"\1***@", _KEY.sub(r"\1***", word)))
    return tuple(shown)
