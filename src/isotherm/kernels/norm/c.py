"""RMS norms in C."""

import torch
from torch import Tensor

from isotherm.kernels.native.arguments import matrix, vector
from isotherm.kernels.native.library import Library


def rms_norm(native: Library, x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x [M, D], weight [D] float32 -> [M, D]."""
    rows, d = x.shape
    stride = matrix(x, native.dtype, "x")
    out = native.empty(rows, d)
    native.function("iso_rms_norm", "plppllfi")(
        x.data_ptr(), stride, vector(weight, torch.float32, "weight", d), out.data_ptr(), rows, d, eps, native.threads
    )
    return out


def gated_rms_norm(native: Library, x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x, gate [M, H*D], weight [D] float32 -> [M, H*D]."""
    return _gated("iso_gated_rms_norm", native, x, gate, weight, eps)


def sigmoid_gated_rms_norm(native: Library, x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x, gate [M, H*D], weight [D] float32 -> [M, H*D]."""
    return _gated("iso_sigmoid_gated_rms_norm", native, x, gate, weight, eps)


def _gated(name: str, native: Library, x: Tensor, gate: Tensor, weight: Tensor, eps: float) -> Tensor:
    rows, columns = x.shape
    d = weight.shape[0]
    x_stride = matrix(x, native.dtype, "x")
    gate_stride = matrix(gate, native.dtype, "gate", columns, rows)
    address = vector(weight, torch.float32, "weight")
    if columns % d:
        raise ValueError(f"x: columns must be a multiple of {d}, got {columns}")
    out = native.empty(rows, columns)
    native.function(name, "plplpplllfi")(
        x.data_ptr(),
        x_stride,
        gate.data_ptr(),
        gate_stride,
        address,
        out.data_ptr(),
        rows,
        columns // d,
        d,
        eps,
        native.threads,
    )
    return out
