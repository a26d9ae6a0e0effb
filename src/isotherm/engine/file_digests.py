"""SHA-256 of large files, read whole once and remembered for as long as the file is as it was.

A file counts as the same while its device, inode, size, and times of change of content and of inode are. The last of these
(ctime) nobody can set, so a file written to, moved there or copied there is read again. A file that changed in the last seconds
is not remembered: within one tick of the file system's clock two states of it would look alike.
"""

import hashlib
import json
import logging
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from isotherm.core.folders import cache_folder

log = logging.getLogger("isotherm")

LEAST = 256 << 20
"""Smaller files are read every time."""
SETTLED = 5.0
"""Seconds for which a file must have stayed as it is to be remembered."""
AT_ONCE = 4
"""Files that are read at the same time."""

Stamp = tuple[int, int, int, int, int]
"""Of a file: device, inode, size, times of change of content and of inode in nanoseconds."""


@dataclass
class FileDigests:
    """What is remembered in the JSON file `where`, one entry a path; what cannot be read or written there is made again."""

    where: Path
    least: int = LEAST
    _known: dict[str, tuple[Stamp, str]] = field(default_factory=dict)

    @classmethod
    def open(cls) -> "FileDigests":
        """Those of this user, in core.folders.cache_folder."""
        return cls(cache_folder() / "file-digests.json")

    def of(self, paths: Sequence[Path]) -> list[bytes]:
        """The SHA-256 of each file."""
        self._known = self._read()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = list(pool.map(self._digest, paths))
        new = {str(path.resolve()): entry for path, (entry, _) in zip(paths, found, strict=True) if entry is not None}
        if new:
            self._write(self._read() | new)
        return [digest for _, digest in found]

    def _digest(self, path: Path) -> tuple[tuple[Stamp, str] | None, bytes]:
        """What is new to remember, and the digest."""
        stamp, began = _stamp(path), time.time()
        known = self._known.get(str(path.resolve()))
        if known is not None and known[0] == stamp and stamp[2] >= self.least:
            return None, bytes.fromhex(known[1])
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
        settled = began - max(stamp[3], stamp[4]) / 1e9 > SETTLED
        keep = stamp[2] >= self.least and settled and _stamp(path) == stamp
        return ((stamp, digest.hexdigest()) if keep else None), digest.digest()

    def _read(self) -> dict[str, tuple[Stamp, str]]:
        try:
            raw = json.loads(self.where.read_text())
            return {path: (_as_stamp(stamp), _as_digest(digest)) for path, (stamp, digest) in raw.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def _write(self, known: dict[str, tuple[Stamp, str]]) -> None:
        there = {path: entry for path, entry in known.items() if Path(path).exists()}
        part = self.where.with_name(f"{self.where.name}.{os.getpid()}")
        try:
            self.where.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(there, indent=1))
            part.replace(self.where)
        except OSError as error:
            log.info("digests of weights are not remembered: %s", error)


def _stamp(path: Path) -> Stamp:
    at = path.stat()
    return at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns


def _as_stamp(values: Sequence[int]) -> Stamp:
    device, inode, size, content, change = (int(value) for value in values)
    return device, inode, size, content, change


def _as_digest(text: str) -> str:
    if len(bytes.fromhex(text)) != hashlib.sha256().digest_size:
        raise ValueError(f"not a SHA-256: {text}")
    return text
