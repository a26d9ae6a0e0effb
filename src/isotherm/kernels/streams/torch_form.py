"""Hyper-connections in torch, a row a call."""

import torch
from torch import Tensor

from isotherm.kernels.fixed import each_row
from isotherm.kernels.streams import reference


def stream_norm(dtype: torch.dtype, x: Tensor, weight: Tensor, eps: float, streams: int) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_norm."""
    out = torch.empty(x.shape, dtype=dtype)
    return each_row(lambda row: reference.stream_norm(row, weight, eps, streams), out, x)


def stream_mix(dtype: torch.dtype, normed: Tensor, gate: Tensor, streams: int) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_mix."""
    out = torch.empty(normed.shape[0], normed.shape[1] // streams, dtype=dtype)
    return each_row(lambda row, g: reference.stream_mix(row, g, streams), out, normed, gate)


def stream_add(dtype: torch.dtype, x: Tensor, y: Tensor, gate: Tensor) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_add."""
    return each_row(reference.stream_add, torch.empty(x.shape, dtype=dtype), x, y, gate)


def scaled_silu(dtype: torch.dtype, x: Tensor, divisor: int) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.scaled_silu."""
    return each_row(lambda row: reference.scaled_silu(row, divisor), torch.empty(x.shape, dtype=dtype), x)


def stream_gate(dtype: torch.dtype, key: Tensor, query: Tensor, value: Tensor, streams: int) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_gate."""
    out = torch.empty(key.shape, dtype=dtype)
    return each_row(lambda k, q, v: reference.stream_gate(k, q, v, streams), out, key, query, value)


def stream_sum(dtype: torch.dtype, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_sum."""
    return each_row(reference.stream_sum, torch.empty(x.shape, dtype=dtype), x, a, b)
