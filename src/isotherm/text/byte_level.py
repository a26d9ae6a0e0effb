"""Byte-level BPE: each byte is written as one printable character, so that a token's text gives its bytes."""

import json
from typing import Any

from isotherm.core.errors import CheckpointError


def byte_table() -> dict[int, int]:
    """Character (code point) to byte, after GPT-2.

    Printable Latin-1 characters stand for themselves; the other bytes, ascending, are written from U+0100 on.
    """
    printable = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: byte for byte in printable} | {256 + place: byte for place, byte in enumerate(others)}


_OUTSIDE = 0xFFFF
_TABLE = dict.fromkeys(range(256), _OUTSIDE) | byte_table()
"""byte_table, with Latin-1 characters that stand for no byte sent to where they cannot be encoded as one."""


def token_bytes(token: str) -> bytes:
    """The bytes of a vocabulary entry; one with a character outside the table stands for its own UTF-8."""
    try:
        return token.translate(_TABLE).encode("latin-1")
    except UnicodeEncodeError:
        return token.encode("utf-8")


def require_byte_level(backend: Any, source: object) -> None:
    """Raises CheckpointError naming `source` unless the `tokenizers` backend is a byte-level BPE."""
    model = type(backend.model).__name__
    if model != "BPE":
        raise CheckpointError(f"{source}: the tokenizer's model is {model}; only byte-level BPE can be served")
    if not _is_byte_level(backend.decoder):
        raise CheckpointError(f"{source}: the tokenizer's decoder is not ByteLevel; only byte-level BPE can be served")


def _is_byte_level(decoder: Any) -> bool:
    if decoder is None:
        return False
    state = json.loads(decoder.__getstate__())
    return any(part.get("type") == "ByteLevel" for part in state.get("decoders", [state]))
