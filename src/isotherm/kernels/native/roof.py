"""What this machine can do at the moment: the bounds that a profile is held against."""

import time
from dataclasses import dataclass

import torch

from isotherm.kernels.native.library import Library
from isotherm.kernels.native.memory import large_pages

_PIECE = 1 << 17
_MEMORY = 256 << 20
_PART = 16 << 20


@dataclass(frozen=True, slots=True)
class Roof:
    """read: bytes a second from memory. multiply: floating-point operations a second of the kernels' dot product."""

    read: float
    multiply: float


def measure(native: Library, seconds: float = 1.0) -> Roof:
    """The best of many short runs, half the time each, on the library's threads. Reads cycle through 256 MiB."""
    memory = large_pages(_MEMORY, dtype=torch.uint8)
    memory.fill_(1)
    sums, values = torch.empty(_PART // _PIECE), torch.ones(1, dtype=torch.int32)
    read, multiply = native.function("iso_read", "ppli"), native.function("iso_multiply", "pli", returns=True)
    reads, end, place = [], time.perf_counter() + seconds / 2, 0
    while time.perf_counter() < end:
        start = time.perf_counter()
        read(memory.data_ptr() + place, sums.data_ptr(), _PART // _PIECE, native.threads)
        reads.append(_PART / (time.perf_counter() - start))
        place = (place + _PART) % _MEMORY
    multiplied, end = [], time.perf_counter() + seconds / 2
    while time.perf_counter() < end:
        start = time.perf_counter()
        done = multiply(values.data_ptr(), 4 * native.threads, native.threads) or 0
        multiplied.append(2 * done / (time.perf_counter() - start))
    return Roof(max(reads), max(multiplied))
