"""A folder of traces: NNNNNN-REQUEST.trace, numbered in order of arrival."""

import re
from pathlib import Path

from isotherm.core.errors import ConfigError
from isotherm.trace.writer import UNFINISHED


def trace_files(folder: Path) -> tuple[Path, ...]:
    """The traces in a folder, in order of arrival, unfinished ones included."""
    return tuple(sorted(path for end in ("", UNFINISHED) for path in folder.glob(f"*.trace{end}")))


def claim_folder(folder: Path) -> None:
    """Make it, for one run. Raises ConfigError when that cannot be done, or it holds the traces of another run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        found = trace_files(folder)
    except OSError as error:
        raise ConfigError("trace", f"{folder}: {error.strerror or error}") from None
    if found:
        raise ConfigError("trace", f"{folder} holds the traces of an earlier run; name another folder or empty it")


def next_number(folder: Path) -> int:
    """The number after the last one there: an engine that is started again in the middle of a run goes on from there."""
    numbers = [int(match[0]) for path in trace_files(folder) if (match := re.match(r"\d+", path.name))]
    return max(numbers, default=-1) + 1


def file_name(number: int, request: str) -> str:
    """The request's id is part of it, as far as it can be."""
    return f"{number:06d}-{re.sub(r'[^A-Za-z0-9_.-]', '_', request)[:80]}.trace"
