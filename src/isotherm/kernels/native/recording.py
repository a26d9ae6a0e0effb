"""C calls kept as data (play.h), so that the calls of a pass can be made again in one."""

import ctypes
from collections.abc import Callable
from math import prod
from weakref import finalize

import torch
from torch import Tensor

from isotherm.kernels.batch import Batch
from isotherm.kernels.native.batch import BatchPointers
from isotherm.kernels.native.library import Library

_CHUNK = 1 << 20


class Workspace:
    """Memory for results. Passes that never run at once take the same."""

    def __init__(self) -> None:
        self._chunks: list[Tensor] = []

    def results(self) -> Callable[[int], Tensor]:
        """From the beginning: a function from a number of bytes to that many, in memory aligned as torch's.

        What nothing refers to any more is handed out again: calls are made in order, so whatever reads it has done so.
        """
        return _Arena(self._chunks).take


class _Arena:
    """chunks: grows as needed. free: pieces of them, chunk and range."""

    def __init__(self, chunks: list[Tensor]):
        self._chunks = chunks
        self._free = [(index, 0, len(chunk)) for index, chunk in enumerate(chunks)]

    def take(self, size: int) -> Tensor:
        """The first piece that is long enough."""
        size = max(64, -(-size // 64) * 64)
        place = next((n for n, (_, start, end) in enumerate(self._free) if end - start >= size), len(self._free))
        if place == len(self._free):
            self._chunks.append(torch.empty(max(size, _CHUNK), dtype=torch.uint8))
            self._free.append((len(self._chunks) - 1, 0, len(self._chunks[-1])))
        index, start, end = self._free.pop(place)
        if end - start > size:
            self._free.insert(place, (index, start + size, end))
        piece = self._chunks[index].numpy()[start : start + size]
        finalize(piece, self._give, index, start, start + size).atexit = False
        return torch.from_numpy(piece)  # refers to `piece`, as does every view of it

    def _give(self, index: int, start: int, end: int) -> None:
        """Back, in order of place, joined with its neighbours."""
        pieces: list[tuple[int, int, int]] = []
        for one in sorted([*self._free, (index, start, end)]):
            if pieces and pieces[-1][0] == one[0] and pieces[-1][2] == one[1]:
                pieces[-1] = (one[0], pieces[-1][1], one[2])
            else:
                pieces.append(one)
        self._free = pieces


class Recorder(Library):
    """A Library that makes calls as another does, and keeps them. Results lie in a workspace, which outlives them.

    Every batch is read through `pointers`, so that calls kept for one batch serve another.
    """

    def __init__(self, library: Library, pointers: BatchPointers, workspace: Workspace):
        super().__init__(library.build, library.threads)
        self.calls: list[tuple[str, str, tuple[int | float, ...]]] = []
        self._pointers = pointers
        self._take = workspace.results()

    def function(self, name: str, types: str, returns: bool = False) -> Callable[..., int | None]:
        real = super().function(name, types, returns)

        def call(*args: int | float) -> int | None:
            self.calls.append((name, types, args))
            return real(*args)

        return call

    def empty(self, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
        kind = dtype or self.dtype
        size = prod(shape) * kind.itemsize
        return self._take(size)[:size].view(kind).view(shape)

    def pointers(self, batch: Batch) -> BatchPointers:
        return self._pointers

    def recording(self) -> "Recording":
        """The calls so far."""
        return Recording(self)


class _Arg(ctypes.Union):
    _fields_ = (("p", ctypes.c_void_p), ("l", ctypes.c_int64), ("i", ctypes.c_int32), ("f", ctypes.c_float))


class _Step(ctypes.Structure):
    _fields_ = (("call", ctypes.c_void_p), ("args", ctypes.c_void_p))


class Recording:
    """Calls to make again. Holds addresses only: whoever keeps it keeps what they point to."""

    def __init__(self, recorder: Recorder):
        self._play = Library.function(recorder, "iso_play", "pl")
        self._args = (_Arg * sum(len(types) for _, types, _ in recorder.calls))()
        self._steps = (_Step * len(recorder.calls))()
        place = 0
        for step, (name, types, args) in zip(self._steps, recorder.calls, strict=True):
            step.call = recorder.address(f"{name}_step")
            step.args = ctypes.addressof(self._args[place])
            for code, value in zip(types, args, strict=True):
                setattr(self._args[place], code, value)
                place += 1

    def play(self) -> None:
        """Make the calls, in order, without the interpreter lock."""
        self._play(ctypes.addressof(self._steps), len(self._steps))
