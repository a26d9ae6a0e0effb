"""Writes one request's trace."""

from pathlib import Path

from isotherm.trace.format import encode, prefix
from isotherm.trace.record import Ended, Header, Record

UNFINISHED = ".part"


class TraceWriter:
    """Owns one file. It is `path`.part while the request runs, complete up to the last record whatever happens to the process,
    and is renamed to `path` at the end.
    """

    def __init__(self, path: Path, header: Header):
        self._path = path
        self._part = path.with_name(path.name + UNFINISHED)
        self._file = self._part.open("xb", buffering=0)
        self._file.write(prefix() + encode(header))

    def write(self, *records: Record) -> None:
        """Append records, in one write."""
        self._file.write(b"".join(map(encode, records)))

    def finish(self, ended: Ended) -> None:
        """The last record; then the file gets its name."""
        self.write(ended)
        self._file.close()
        self._part.replace(self._path)

    def abandon(self) -> None:
        """Close the file as it is; it keeps the name of an unfinished one."""
        self._file.close()
