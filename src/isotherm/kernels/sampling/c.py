"""Sampling in C."""

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor

from isotherm.kernels.native.arguments import matrix, vector
from isotherm.kernels.native.library import Library

_WORD64 = 0xFFFFFFFFFFFFFFFF
_LARGEST = 2**31 - 1


class Choice(ctypes.Structure):
    """choice_t: how the token after a row is chosen."""

    _fields_ = (
        ("temperature", ctypes.c_float),
        ("top_p", ctypes.c_float),
        ("min_p", ctypes.c_float),
        ("pad", ctypes.c_int32),
        ("top_k", ctypes.c_int64),
        ("choice", ctypes.c_int64),
        ("position", ctypes.c_int64),
        ("seed", ctypes.c_uint64),
    )

    @classmethod
    def of(cls, temperature: float, top_k: int, top_p: float, min_p: float, key: tuple[int, int, int]) -> "Choice":
        """With the arguments of `sample`."""
        seed, choice, position = key
        return cls(temperature, top_p, min_p, 0, min(top_k, _LARGEST), choice, position, seed & _WORD64)


def choose(native: Library, logits: Tensor, choices: Tensor) -> Tensor:
    """logits [R, V], choices [R, 48] uint8, a Choice a row -> [R] int32, what `sample` chooses.

    -1 where a logit is not finite.
    """
    rows, vocabulary = logits.shape
    stride = matrix(logits, torch.float32, "logits")
    tokens = native.empty(rows, dtype=torch.int32)
    native.function("iso_choose", "plllppi")(
        logits.data_ptr(),
        stride,
        rows,
        vocabulary,
        vector(choices, torch.uint8, "choices", rows * ctypes.sizeof(Choice)),
        tokens.data_ptr(),
        native.threads,
    )
    return tokens


def as_tensor(choices: Sequence[Choice]) -> Tensor:
    """[R, 48] uint8, R at least 1."""
    memory = (Choice * len(choices))(*choices)
    return torch.frombuffer(memory, dtype=torch.uint8).view(len(choices), -1)


def log_sum_exp(native: Library, logits: Tensor) -> Tensor:
    """See isotherm.kernels.api.Kernels.log_sum_exp."""
    rows, vocabulary = logits.shape
    stride = matrix(logits, torch.float32, "logits")
    out = torch.empty(rows)
    native.function("iso_log_sum_exp", "plllpi")(
        logits.data_ptr(), stride, rows, vocabulary, out.data_ptr(), native.threads
    )
    return out


def top(native: Library, logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """See isotherm.kernels.api.Kernels.top."""
    rows, vocabulary = logits.shape
    stride = matrix(logits, torch.float32, "logits")
    if not 0 <= k <= vocabulary:
        raise ValueError(f"k: must be between 0 and {vocabulary}, got {k}")
    ids, values = torch.empty(rows, k, dtype=torch.int32), torch.empty(rows, k)
    native.function("iso_top", "pllllppi")(
        logits.data_ptr(), stride, rows, vocabulary, k, ids.data_ptr(), values.data_ptr(), native.threads
    )
    return ids, values


def sample(
    native: Library,
    logits: Tensor,
    temperature: float,
    top_k: int,
    top_p: float,
    min_p: float,
    key: tuple[int, int, int],
) -> int:
    """See isotherm.kernels.api.Kernels.sample."""
    seed, choice, position = key
    address = vector(logits, torch.float32, "logits")
    function = native.function("iso_sample", "plflffull", returns=True)
    token = function(
        address, logits.numel(), temperature, min(top_k, _LARGEST), top_p, min_p, seed & _WORD64, choice, position
    )
    assert token is not None
    return token
