"""Hyper-connections on the GPU: launches of triton_kernels."""

import math
from typing import Any

import torch
import triton
from torch import Tensor

from isotherm.kernels.gpu.launch import OPTIONS, aligned, overlap, units
from isotherm.kernels.norm.triton_form import warps
from isotherm.kernels.streams import triton_kernels as tk


def stream_norm(x: Tensor, weight: Tensor, eps: float, streams: int) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_norm."""
    x = aligned(x)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    tk.stream_norm[(x.shape[0], streams)](x, weight, out, units(x), eps, **_whole(x, streams))
    return out


def stream_gate(key: Tensor, query: Tensor, value: Tensor, streams: int) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_gate."""
    key, query, value = aligned(key), aligned(query), aligned(value)
    out = torch.empty(key.shape, dtype=key.dtype, device=key.device)
    strides = units(key), units(query), units(value)
    root = math.sqrt(value.shape[1])
    tk.stream_gate[(key.shape[0], streams)](key, query, value, out, *strides, root, **_whole(key, streams))
    return out


def stream_mix(normed: Tensor, gate: Tensor, streams: int) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_mix."""
    rows, h = normed.shape[0], normed.shape[1] // streams
    out = torch.empty(rows, h, dtype=normed.dtype, device=normed.device)
    grid, sizes = _tiles(rows, h)
    tk.stream_mix[grid](normed, gate, out, normed.stride(0), gate.stride(0), S=streams, H=h, **sizes)
    return out


def stream_add(x: Tensor, y: Tensor, gate: Tensor) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_add."""
    rows, h, streams = *y.shape, gate.shape[1]
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    grid, sizes = _tiles(rows, h)
    strides = x.stride(0), y.stride(0), gate.stride(0)
    tk.stream_add[grid](x, y, gate, out, *strides, S=streams, H=h, **sizes)
    return out


def scaled_silu(x: Tensor, divisor: int) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.scaled_silu."""
    rows, width = x.shape
    out = torch.empty(rows, width, dtype=x.dtype, device=x.device)
    grid, sizes = _tiles(rows, width)
    tk.scaled_silu[grid](x, out, x.stride(0), width, float(divisor), **sizes)
    return out


def stream_sum(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_sum."""
    rows, width = x.shape
    out = torch.empty(rows, width, dtype=x.dtype, device=x.device)
    grid, sizes = _tiles(rows, width)
    tk.stream_sum[grid](x, a, b, out, x.stride(0), a.stride(0), b.stride(0), width, **sizes)
    return out


def _whole(x: Tensor, streams: int) -> dict[str, Any]:
    """Of a program that has all columns of a stream."""
    h = x.shape[1] // streams
    columns = triton.next_power_of_2(h)
    sizes = {"S": streams, "H": h, "BH": columns, "UNIT": 16 // x.element_size(), "num_warps": warps(columns)}
    return sizes | overlap() | OPTIONS


def _tiles(rows: int, width: int) -> tuple[tuple[int, int], dict[str, Any]]:
    """Of programs that have some columns of a row; how many is no part of the bits."""
    columns = min(1024, triton.next_power_of_2(width))
    return (rows, triton.cdiv(width, columns)), {"BD": columns} | overlap() | OPTIONS
