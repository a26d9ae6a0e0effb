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
    wide = normed.shape[1]
    inputs = {"normed": (normed, wide), "gate": (gate, wide)}
    return _call(native, "iso_stream_mix", inputs, wide // streams, streams, wide // streams)


def stream_add(native: Library, x: Tensor, y: Tensor, gate: Tensor) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_add."""
    wide, streams = x.shape[1], gate.shape[1]
    inputs = {"x": (x, wide), "y": (y, wide // streams), "gate": (gate, streams)}
    return _call(native, "iso_stream_add", inputs, wide, streams, wide // streams)


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
    wide = key.shape[1]
    inputs = {"key": (key, wide), "query": (query, wide), "value": (value, wide // streams)}
    return _call(native, "iso_stream_gate", inputs, wide, streams, wide // streams)


def stream_sum(native: Library, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.stream_sum."""
    columns = x.shape[1]
    return _call(native, "iso_stream_sum", {"x": (x, columns), "a": (a, columns), "b": (b, columns)}, columns, columns)


def _call(native: Library, name: str, inputs: dict[str, tuple[Tensor, int]], width: int, *sizes: int) -> Tensor:
    """The kernel's result [M, width]. inputs: each by name with the columns that it must have. sizes: after the rows."""
    rows = next(iter(inputs.values()))[0].shape[0]
    strided = [
        part
        for what, (tensor, columns) in inputs.items()
        for part in (tensor.data_ptr(), matrix(tensor, native.dtype, what, columns, rows))
    ]
    out = native.empty(rows, width)
    types = "pl" * len(inputs) + "p" + "l" * (1 + len(sizes)) + "i"
    native.function(name, types)(*strided, out.data_ptr(), rows, *sizes, native.threads)
    return out
