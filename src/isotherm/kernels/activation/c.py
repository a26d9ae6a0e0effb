"""Gates in C."""

from torch import Tensor

from isotherm.kernels.native.arguments import matrix
from isotherm.kernels.native.library import Library


def silu_mul(native: Library, gate_up: Tensor) -> Tensor:
    """gate_up [M, 2I] -> [M, I]."""
    rows, columns = gate_up.shape
    if columns % 2:
        raise ValueError(f"gate_up: columns must be even, got {columns}")
    stride = matrix(gate_up, native.dtype, "gate_up")
    out = native.empty(rows, columns // 2)
    native.function("iso_silu_mul", "plplli")(
        gate_up.data_ptr(), stride, out.data_ptr(), rows, columns // 2, native.threads
    )
    return out


def sigmoid_mul(native: Library, x: Tensor, gate: Tensor) -> Tensor:
    """x, gate [M, D] -> [M, D]."""
    rows, d = x.shape
    x_stride, gate_stride = matrix(x, native.dtype, "x"), matrix(gate, native.dtype, "gate", d, rows)
    out = native.empty(rows, d)
    native.function("iso_sigmoid_mul", "plplplli")(
        x.data_ptr(), x_stride, gate.data_ptr(), gate_stride, out.data_ptr(), rows, d, native.threads
    )
    return out
