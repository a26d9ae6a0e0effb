"""Records as bytes (docs/trace.md, "The file"). Little-endian throughout.

file    = "ISOTRACE", u32 version, record...
record  = kind (4 bytes), u32 length, payload (length bytes), u32 CRC-32 of kind and payload
"""

import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm.core.errors import TraceError
from isotherm.trace.hashing import HASH
from isotherm.trace.record import Computed, Ended, Header, Phase, Record, Restored

MAGIC, VERSION = b"ISOTRACE", 1
_PREFIX, _FRAME = struct.Struct("<8sI"), struct.Struct("<4sI")
_RESTORED, _COMPUTED = struct.Struct("<4i"), struct.Struct("<11i")


def prefix() -> bytes:
    """The file's first bytes."""
    return _PREFIX.pack(MAGIC, VERSION)


def encode(item: Header | Record) -> bytes:
    """One framed record."""
    kind, payload = _payload(item)
    return _FRAME.pack(kind, len(payload)) + payload + struct.pack("<I", zlib.crc32(kind + payload))


def frames(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(kind, payload) of each whole record; a last one that is cut off ends the iteration.

    Raises TraceError for another format or version, and for a record whose checksum is wrong.
    """
    if len(data) < _PREFIX.size or data[:8] != MAGIC:
        raise TraceError("not a trace file")
    _, version = _PREFIX.unpack_from(data)
    if version != VERSION:
        raise TraceError(f"version {version} of the format, and this build reads version {VERSION}")
    at = _PREFIX.size
    while at + _FRAME.size <= len(data):
        kind, length = _FRAME.unpack_from(data, at)
        body = at + _FRAME.size
        if body + length + 4 > len(data):
            return
        payload = data[body : body + length]
        if zlib.crc32(kind + payload) != struct.unpack_from("<I", data, body + length)[0]:
            raise TraceError(f"damaged: the record at byte {at} has a wrong checksum")
        yield kind, payload
        at = body + length + 4


def decode_header(payload: bytes) -> Header:
    """Raises TraceError when the hashes are another function's."""
    fields, prompt = _split(payload)
    if (name := fields.pop("hash")) != HASH:
        raise TraceError(f"made with the hash {name!r}, and this build has {HASH!r}")
    names: dict[str, Any] = {key: tuple(fields.pop(key)) for key in ("layers", "states", "blocks")}
    return Header(prompt=prompt, **fields, **names)


def decode(kind: bytes, payload: bytes, header: Header) -> Record:
    """The record, given the header that its sizes follow from."""
    if kind == b"ENDS":
        fields, generated = _split(payload)
        return Ended(fields["reason"], generated)
    cut = _Cut(payload)
    if kind == b"REST":
        number, cached, snapshot, blocks = cut.header(_RESTORED)
        return Restored(
            number, cached, snapshot, cut.hashes(len(header.states)), cut.hashes(blocks, len(header.blocks))
        )
    if kind == b"SEGM":
        return _computed(cut, header)
    raise TraceError(f"a record of unknown kind {kind!r}")


def _computed(cut: "_Cut", header: Header) -> Computed:
    number, start, n, replay, phase, segments, total, logits, boundaries, first, blocks = cut.header(_COMPUTED)
    tokens, offsets, positions = (cut.ints(count) for count in (n, logits, boundaries))
    return Computed(
        number=number,
        phase=Phase(phase),
        start=start,
        tokens=tokens,
        replay=replay,
        segments=segments,
        rows_in_pass=total,
        rows=cut.hashes(len(header.layers) + 1, n),
        logit_offsets=offsets,
        logits=cut.hashes(logits),
        boundaries=positions,
        states=cut.hashes(boundaries, len(header.states)),
        first_block=first,
        blocks=cut.hashes(blocks, len(header.blocks)),
    )


def _payload(item: Header | Record) -> tuple[bytes, bytes]:
    if isinstance(item, Header):
        fields = {name: getattr(item, name) for name in ("request", "choice", "seed", "layers", "states", "blocks")}
        return b"HEAD", _join(fields | {"build": item.build, "hash": HASH}, item.prompt)
    if isinstance(item, Ended):
        return b"ENDS", _join({"reason": item.reason}, item.generated)
    if isinstance(item, Restored):
        sizes = _RESTORED.pack(item.number, item.cached, item.snapshot, len(item.blocks))
        return b"REST", sizes + _bytes((), (item.states, item.blocks))
    sizes = _COMPUTED.pack(
        item.number,
        item.start,
        len(item.tokens),
        item.replay,
        item.phase,
        item.segments,
        item.rows_in_pass,
        len(item.logits),
        len(item.boundaries),
        item.first_block,
        len(item.blocks),
    )
    ints = (item.tokens, item.logit_offsets, item.boundaries)
    return b"SEGM", sizes + _bytes(ints, (item.rows, item.logits, item.states, item.blocks))


def _bytes(ints: Iterable[NDArray[np.int32]], hashes: Iterable[NDArray[np.uint64]]) -> bytes:
    parts = [part.astype("<i4").tobytes() for part in ints] + [part.astype("<u8").tobytes() for part in hashes]
    return b"".join(parts)


def _join(fields: dict[str, object], tokens: tuple[int, ...]) -> bytes:
    text = json.dumps(fields, ensure_ascii=False).encode()
    return struct.pack("<I", len(text)) + text + np.array(tokens, "<i4").tobytes()


def _split(payload: bytes) -> tuple[dict[str, Any], tuple[int, ...]]:
    (length,) = struct.unpack_from("<I", payload)
    fields = json.loads(payload[4 : 4 + length])
    return fields, tuple(np.frombuffer(payload, "<i4", offset=4 + length).tolist())


class _Cut:
    """Takes arrays off the front of a payload."""

    def __init__(self, payload: bytes):
        self._payload = payload
        self._at = 0

    def header(self, layout: struct.Struct) -> tuple[int, ...]:
        values = layout.unpack_from(self._payload)
        self._at = layout.size
        return values

    def ints(self, count: int) -> NDArray[np.int32]:
        return self._take("<i4", count).astype(np.int32)

    def hashes(self, *shape: int) -> NDArray[np.uint64]:
        return self._take("<u8", int(np.prod(shape))).astype(np.uint64).reshape(shape)

    def _take(self, kind: str, count: int) -> NDArray[np.generic]:
        found = np.frombuffer(self._payload, kind, count, self._at)
        self._at += found.nbytes
        return found
