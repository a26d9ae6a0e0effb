"""Hyper-connections in C."""

import torch
from torch import Tensor

from isotherm.kernels.native.arguments import matrix, vector
from isotherm.kernels.native.library import Library


def stream_norm(native: Library, x: Tensor, weight: Tensor, eps: float, streams: int) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_norm."""
    rows, wide = x.shape
    stride, out = matrix(x, native.dtype, "x"), native.empty(rows, wide)
    address = vector(weight, torch.float32, "weight", wide)
    native.function("iso_stream_norm", "plpplllfi")(
        x.data_ptr(), stride, address, out.data_ptr(), rows, streams, wide // streams, eps, native.threads
    )
    return out


def stream_mix(native: Library, normed: Tensor, gate: Tensor, streams: int) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_mix."""
    rows, wide = normed.shape
    stride, gate_stride = matrix(normed, native.dtype, "normed"), matrix(gate, native.dtype, "gate", wide, rows)
    out = native.empty(rows, wide // streams)
    native.function("iso_stream_mix", "plplpllli")(
        normed.data_ptr(),
        stride,
        gate.data_ptr(),
        gate_stride,
        out.data_ptr(),
        rows,
        streams,
        wide // streams,
        native.threads,
    )
    return out


def stream_add(native: Library, x: Tensor, y: Tensor, gate: Tensor) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_add."""
    rows, wide = x.shape
    streams = gate.shape[1]
    strides = (
        matrix(x, native.dtype, "x"),
        matrix(y, native.dtype, "y", wide // streams, rows),
        matrix(gate, native.dtype, "gate", rows=rows),
    )
    out = native.empty(rows, wide)
    native.function("iso_stream_add", "plplplpllli")(
        x.data_ptr(),
        strides[0],
        y.data_ptr(),
        strides[1],
        gate.data_ptr(),
        strides[2],
        out.data_ptr(),
        rows,
        streams,
        wide // streams,
        native.threads,
    )
    return out


def scaled_silu(native: Library, x: Tensor, divisor: int) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.scaled_silu."""
    rows, columns = x.shape
    stride, out = matrix(x, native.dtype, "x"), native.empty(rows, columns)
    native.function("iso_scaled_silu", "plpllfi")(
        x.data_ptr(), stride, out.data_ptr(), rows, columns, float(divisor), native.threads
    )
    return out


def stream_gate(native: Library, key: Tensor, query: Tensor, value: Tensor, streams: int) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_gate."""
    rows, wide = key.shape
    strides = (
        matrix(key, native.dtype, "key"),
        matrix(query, native.dtype, "query", wide, rows),
        matrix(value, native.dtype, "value", wide // streams, rows),
    )
    out = native.empty(rows, wide)
    native.function("iso_stream_gate", "plplplpllli")(
        key.data_ptr(),
        strides[0],
        query.data_ptr(),
        strides[1],
        value.data_ptr(),
        strides[2],
        out.data_ptr(),
        rows,
        streams,
        wide // streams,
        native.threads,
    )
    return out


def stream_sum(native: Library, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_sum."""
    rows, columns = x.shape
    strides = [matrix(part, native.dtype, name, columns, rows) for part, name in ((x, "x"), (a, "a"), (b, "b"))]
    out = native.empty(rows, columns)
    native.function("iso_stream_sum", "plplplplli")(
        x.data_ptr(),
        strides[0],
        a.data_ptr(),
        strides[1],
        b.data_ptr(),
        strides[2],
        out.data_ptr(),
        rows,
        columns,
        native.threads,
    )
    return out
