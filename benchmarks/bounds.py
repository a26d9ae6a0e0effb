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


def read_rate(llm: LLM, seconds: float = 0.5) -> float:
    """Bytes a second at which the weights are read when nothing is done with them: the median sweep over all of them."""
    native, tensors = llm.engine.runner.decoder.kernels.native, weights(llm)
    read = native.function("iso_read", "ppli")
    pieces = [tensor.nbytes // PIECE for tensor in tensors]
    sums = torch.empty(max(pieces))
    sweeps, end = [], time.perf_counter() + seconds
    while len(sweeps) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        for tensor, count in zip(tensors, pieces, strict=True):
            read(tensor.data_ptr(), sums.data_ptr(), count, native.threads)
        sweeps.append(time.perf_counter() - start)
    return sum(pieces) * PIECE / statistics.median(sweeps)


def weight_bytes(llm: LLM) -> int:
    """Bytes of weights that one token's pass reads."""
    return sum(tensor.nbytes for tensor in weights(llm))


def kv_bytes(llm: LLM, tokens: int) -> int:
    """Bytes of keys and values of `tokens` tokens."""
    state = llm.engine.runner.state
    return sum(tensor[0].nbytes for tensor in state.by_block().values()) * tokens // 64
