"""Linear layers in C."""

import torch
from torch import Tensor

from isotherm.kernels.api import Linear
from isotherm.kernels.linear.fp8 import Fp8Linear
from isotherm.kernels.linear.packing import pack as pack_panels
from isotherm.kernels.linear.packing import pack_fp8
from isotherm.kernels.native.arguments import matrix, vector
from isotherm.kernels.native.library import Library
from isotherm.kernels.weight import Fp8Weight, Weight


def pack(native: Library, weight: Weight) -> Linear:
    """weight [N, K], any float dtype or FP8."""
    n, k = weight.shape
    if isinstance(weight, Fp8Weight):
        return Fp8Linear(n, k, *pack_fp8(weight, native.dtype))
    return Linear(n, k, pack_panels(weight, native.dtype))


def linear(native: Library, x: Tensor, weight: Linear, residual: Tensor | None = None) -> Tensor:
    """x [M, K] -> round(residual + x W^T) [M, N]."""
    out = native.empty(x.shape[0], weight.n)
    _product(native, x, weight, residual, out.data_ptr(), 0)
    return out


def logits(native: Library, x: Tensor, weight: Linear) -> Tensor:
    """x [M, K] -> x W^T [M, N] float32."""
    out = native.empty(x.shape[0], weight.n, dtype=torch.float32)
    _product(native, x, weight, None, 0, out.data_ptr())
    return out


def _product(native: Library, x: Tensor, weight: Linear, residual: Tensor | None, rounded: int, sums: int) -> None:
    rows, n, k = x.shape[0], weight.n, weight.k
    x_stride = matrix(x, native.dtype, "x", k)
    stride = 0 if residual is None else matrix(residual, native.dtype, "residual", n, rows)
    address = 0 if residual is None else residual.data_ptr()
    if isinstance(weight, Fp8Linear):
        native.function("iso_fp8_linear", "plppplppllli")(
            x.data_ptr(), x_stride, weight.data.data_ptr(), weight.scales.data_ptr(), address, stride, rounded, sums,
            rows, n, k, native.threads,
        )  # fmt: skip
        return
    native.function("iso_linear", "plpplppllli")(
        x.data_ptr(), x_stride, weight.data.data_ptr(), address, stride, rounded, sums, rows, n, k, native.threads
    )


def embed(native: Library, tokens: Tensor, table: Linear) -> Tensor:
    """tokens [M] int32, each below N -> [M, K]."""
    rows = tokens.shape[0]
    out = native.empty(rows, table.k)
    native.function("iso_embed", "ppplli")(
        vector(tokens, torch.int32, "tokens"), table.data.data_ptr(), out.data_ptr(), rows, table.k, native.threads
    )
    return out
