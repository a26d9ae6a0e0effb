"""Sampling in C."""

import torch
from torch import Tensor

from isotherm.kernels.native.arguments import matrix, vector
from isotherm.kernels.native.library import Library

_WORD64 = 0xFFFFFFFFFFFFFFFF
_LARGEST = 2**31 - 1


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
