"""Which traces of two folders belong together."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from isotherm.core.errors import TraceError
from isotherm.trace.folder import trace_files
from isotherm.trace.reader import Trace, read_trace


@dataclass(frozen=True, slots=True)
class Pairs:
    """matched: in A's order. only_a, only_b: names of those without a counterpart. all_a, all_b: every trace there is."""

    matched: tuple[tuple[Trace, Trace], ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    all_a: tuple[Trace, ...] = ()
    all_b: tuple[Trace, ...] = ()


def pair_up(a: Path, b: Path) -> Pairs:
    """Two files are a pair. In two folders, traces of one request id are; then, in order of arrival, those of one prompt.

    Raises TraceError when one is a file and the other a folder, or a folder has no traces.
    """
    if a.is_dir() != b.is_dir():
        raise TraceError(f"{a} and {b}: two files or two folders can be compared")
    if not a.is_dir():
        return Pairs(((read_trace(a), read_trace(b)),), (), ())
    mine, theirs = _read_folder(a), _read_folder(b)
    partners = _partners(mine, theirs)
    matched = tuple((mine[i], theirs[j]) for i, j in sorted(partners.items()))
    taken = set(partners.values())
    return Pairs(
        matched,
        tuple(trace.name for i, trace in enumerate(mine) if i not in partners),
        tuple(trace.name for j, trace in enumerate(theirs) if j not in taken),
        tuple(mine),
        tuple(theirs),
    )


def _partners(mine: list[Trace], theirs: list[Trace]) -> dict[int, int]:
    """Index in `theirs` by index in `mine`."""
    partners: dict[int, int] = {}
    for key in (_by_request, _by_prompt):
        free: dict[object, list[int]] = defaultdict(list)
        taken = set(partners.values())
        for j, trace in enumerate(theirs):
            if j not in taken:
                free[key(trace)].append(j)
        for i, trace in enumerate(mine):
            if i not in partners and free[key(trace)]:
                partners[i] = free[key(trace)].pop(0)
    return partners


def _by_request(trace: Trace) -> object:
    return trace.header.request, trace.header.prompt


def _by_prompt(trace: Trace) -> object:
    return trace.header.prompt, trace.header.choice


def _read_folder(folder: Path) -> list[Trace]:
    files = trace_files(folder)
    if not files:
        raise TraceError(f"{folder} has no traces")
    return [read_trace(path) for path in files]
