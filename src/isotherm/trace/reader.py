"""Reads trace files."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isotherm.core.errors import TraceError
from isotherm.trace.format import decode, decode_header, frames
from isotherm.trace.record import Computed, Ended, Header, Ints, Record, Restored


@dataclass(frozen=True, slots=True)
class Trace:
    """One request's records. `ended` is None when the file was not finished: the process ended first, or still runs."""

    name: str
    header: Header
    records: tuple[Restored | Computed, ...]
    ended: Ended | None

    @property
    def computed(self) -> tuple[Computed, ...]:
        """The segments, in the order in which they were computed."""
        return tuple(record for record in self.records if isinstance(record, Computed))

    @property
    def restored(self) -> tuple[Restored, ...]:
        """The cache hits: at most one a time that the request was admitted."""
        return tuple(record for record in self.records if isinstance(record, Restored))

    @property
    def tokens(self) -> Ints:
        """The prompt and what was generated; while that is not known, what was computed last at each position."""
        prompt = np.array(self.header.prompt, np.int32)
        if self.ended is not None:
            return np.concatenate([prompt, np.array(self.ended.generated, np.int32)])
        tokens = np.zeros(max([len(prompt), *(item.end for item in self.computed)]), np.int32)
        for item in self.computed:
            tokens[item.start : item.end] = item.tokens
        tokens[: len(prompt)] = prompt
        return tokens


def read_trace(path: Path) -> Trace:
    """Raises TraceError, naming the file, when it is not a trace, is damaged, or is of another version."""
    try:
        found = frames(path.read_bytes())
        kind, payload = next(found, (b"", b""))
        if kind != b"HEAD":
            raise TraceError("has no header: the process ended before it was written")
        header = decode_header(payload)
        records: list[Record] = [decode(kind, payload, header) for kind, payload in found]
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror or error}") from None
    except TraceError as error:
        raise TraceError(f"{path}: {error}") from None
    ended = next((record for record in records if isinstance(record, Ended)), None)
    return Trace(path.name, header, tuple(item for item in records if not isinstance(item, Ended)), ended)
