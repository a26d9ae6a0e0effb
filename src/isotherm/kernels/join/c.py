"""Joining in C."""

from torch import Tensor

from isotherm.kernels.native.arguments import matrix
from isotherm.kernels.native.library import Library


def join(native: Library, a: Tensor, b: Tensor) -> Tensor:
    """See isotherm.kernels.api.Kernels.join."""
    rows, n, m = a.shape[0], a.shape[1], b.shape[1]
    a_stride, b_stride = matrix(a, native.dtype, "a"), matrix(b, native.dtype, "b", rows=rows)
    out = native.empty(rows, n + m)
    native.function("iso_join", "pllpllpl")(a.data_ptr(), a_stride, n, b.data_ptr(), b_stride, m, out.data_ptr(), rows)
    return out
