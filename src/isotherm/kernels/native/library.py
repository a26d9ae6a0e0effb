"""The compiled kernels as ctypes functions, and the one place where their arguments are checked."""

import ctypes
from collections.abc import Callable

import torch
from torch import Tensor

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

    def function(self, name: str, types: str, returns: bool = False) -> Callable[..., int | None]:
        """The kernel `name`, its argument types set on first use."""
        found = self._functions.get(name)
        if found is None:
            found = getattr(self._library, name)
            found.argtypes = [_TYPES[code] for code in types]
            found.restype = ctypes.c_int64 if returns else None
            self._functions[name] = found
        return found


def matrix(x: Tensor, dtype: torch.dtype, name: str, columns: int | None = None, rows: int | None = None) -> int:
    """Check that x is a CPU matrix of `dtype` with unit column stride, and of the given size; its row stride in elements."""
    shape = x.shape
    if x.dtype != dtype or len(shape) != 2 or not x.is_cpu:
        raise ValueError(f"{name}: must be a {dtype} matrix on the CPU, got {x.dtype} {tuple(shape)} on {x.device}")
    if (columns is not None and shape[1] != columns) or (rows is not None and shape[0] != rows):
        wanted = ("any" if rows is None else rows, "any" if columns is None else columns)
        raise ValueError(f"{name}: must be {list(wanted)}, got {list(shape)}")
    row, column = x.stride()
    if column != 1 and shape[1] > 1:
        raise ValueError(f"{name}: must have unit column stride, got strides {(row, column)}")
    return row


def vector(x: Tensor, dtype: torch.dtype, name: str, size: int | None = None) -> int:
    """Check that x is a contiguous CPU tensor of `dtype`, and of the given number of elements; its address."""
    if x.dtype != dtype or not x.is_cpu or not x.is_contiguous():
        raise ValueError(
            f"{name}: must be a contiguous {dtype} tensor on the CPU, got {x.dtype} with strides {x.stride()}"
        )
    if size is not None and x.numel() != size:
        raise ValueError(f"{name}: must have {size} elements, got {x.numel()}")
    return x.data_ptr()
