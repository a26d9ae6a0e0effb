"""What bounds a decode and a warm turn on this machine at this moment, measured beside them."""

import statistics
import time
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

from isotherm import LLM
from isotherm.kernels.api import Linear

PIECE = 1 << 17
EIGHT = 8
PREFILL_S = 0.1
"""A pass that takes longer is no decode."""


def weights(llm: LLM) -> list[Tensor]:
    """The packed matrices that a token's pass reads: every layer's, and the output projection."""
    decoder = llm.engine.runner.decoder
    found = {id(matrix.data): matrix.data for matrix in (*_matrices(decoder.layers), decoder.head)}
    return list(found.values())


def _matrices(value: Any) -> list[Linear]:
    if isinstance(value, Linear):
        return [value]
    if isinstance(value, tuple | list):
        return [matrix for item in value for matrix in _matrices(item)]
    if is_dataclass(value):
        return [matrix for field in fields(value) for matrix in _matrices(getattr(value, field.name))]
    return []


class Reading:
    """Reads the weights as a token's pass must, and does nothing with them."""

    def __init__(self, llm: LLM):
        native = llm.engine.runner.decoder.kernels.native
        self._read, self._threads = native.function("iso_read", "ppli"), native.threads
        self._parts = [(tensor.data_ptr(), tensor.nbytes // PIECE) for tensor in weights(llm)]
        self._sums = torch.empty(max(count for _, count in self._parts))
        self.bytes = sum(count for _, count in self._parts) * PIECE

    def sweep(self) -> float:
        """Seconds that reading all of them took."""
        start = time.perf_counter()
        for address, count in self._parts:
            self._read(address, self._sums.data_ptr(), count, self._threads)
        return time.perf_counter() - start

    def rate(self, seconds: float = 0.5) -> float:
        """Bytes a second: the median sweep."""
        sweeps, end = [], time.perf_counter() + seconds
        while len(sweeps) < 3 or time.perf_counter() < end:
            sweeps.append(self.sweep())
        return self.bytes / statistics.median(sweeps)


class BesideReading:
    """While open, every EIGHT passes of the engine are followed by a sweep: so both meet the machine in the same state."""

    def __init__(self, llm: LLM, reading: Reading):
        self._engine, self._reading = llm.engine, reading
        self._steps: list[float] = []
        self.shares: list[float] = []

    def __enter__(self) -> "BesideReading":
        self._engine.step = self._step  # type: ignore[method-assign]
        return self

    def __exit__(self, *error: object) -> None:
        del self._engine.step  # type: ignore[method-assign]

    def _step(self) -> Any:
        start = time.perf_counter()
        outputs = type(self._engine).step(self._engine)
        taken = time.perf_counter() - start
        self._steps = [*self._steps, taken] if taken < PREFILL_S else []
        if len(self._steps) == EIGHT:
            self.shares.append(self._reading.sweep() / statistics.mean(self._steps))
            self._steps.clear()
        return outputs


def weight_bytes(llm: LLM) -> int:
    """Bytes of weights that one token's pass reads."""
    return sum(tensor.nbytes for tensor in weights(llm))


def kv_bytes(llm: LLM, tokens: int) -> int:
    """Bytes of keys and values of `tokens` tokens."""
    state = llm.engine.runner.state
    return sum(tensor[0].nbytes for tensor in state.by_block().values()) * tokens // 64
