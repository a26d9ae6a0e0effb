"""The compiled kernels as ctypes functions."""

import ctypes
from collections.abc import Callable

import torch
from torch import Tensor

from isotherm.kernels.batch import Batch
from isotherm.kernels.native.batch import BatchPointers
from isotherm.kernels.native.build import Build

_TYPES = {"p": ctypes.c_void_p, "l": ctypes.c_int64, "u": ctypes.c_uint64, "i": ctypes.c_int32, "f": ctypes.c_float}


class Library:
    """One loaded build. Calls release the interpreter lock. `threads` is passed to every kernel, and never changes.

    A kernel is called as `library.function("iso_name", "ppl")(x.data_ptr(), y.data_ptr(), n)`: p pointer, l int64, u uint64,
    i int32, f float. Symbols begin with iso_ and return nothing, or an int64 when `returns` is given.
    """

    def __init__(self, build: Build, threads: int):
        self.build = build
        self.dtype = build.dtype
        self.threads = threads
        self._library = ctypes.CDLL(str(build.path))
        self._functions: dict[str, Callable[..., int | None]] = {}
        self._last: tuple[Batch, BatchPointers] | None = None

    def function(self, name: str, types: str, returns: bool = False) -> Callable[..., int | None]:
        """The kernel `name`, its argument types set on first use."""
        found = self._functions.get(name)
        if found is None:
            found = getattr(self._library, name)
            found.argtypes = [_TYPES[code] for code in types]
            found.restype = ctypes.c_int64 if returns else None
            self._functions[name] = found
        return found

    def address(self, name: str) -> int | None:
        """Where the symbol `name` lies."""
        return ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value

    def empty(self, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
        """A result of an operation, in the activation type unless another is given."""
        return torch.empty(shape, dtype=dtype or self.dtype)

    def pointers(self, batch: Batch) -> BatchPointers:
        """batch_t of `batch`; made once for the operations of a pass, which follow one another."""
        last = self._last
        if last is None or last[0] is not batch:
            last = self._last = (batch, BatchPointers.of(batch))
        return last[1]
