"""Per-head norm and rotation in C."""

import torch
from torch import Tensor

from isotherm.kernels.api import RopeTable
from isotherm.kernels.native.arguments import matrix, vector
from isotherm.kernels.native.library import Library


def norm_rope(native: Library, x: Tensor, weight: Tensor, eps: float, positions: Tensor, table: RopeTable) -> Tensor:
    """See isotherm.kernels.api.Kernels.norm_rope."""
    rows, columns = x.shape
    dim, half = weight.shape[0], table.cos.shape[1]
    if columns % dim or 2 * half > dim:
        raise ValueError(f"x: {columns} columns do not make heads of {dim} with {2 * half} rotated")
    stride = matrix(x, native.dtype, "x")
    out = native.empty(rows, columns)
    native.function("iso_norm_rope", "plpppppllllfi")(
        x.data_ptr(),
        stride,
        vector(weight, torch.float32, "weight"),
        vector(positions, torch.int32, "positions", rows),
        vector(table.cos, torch.float32, "cos"),
        vector(table.sin, torch.float32, "sin", table.cos.numel()),
        out.data_ptr(),
        rows,
        columns // dim,
        dim,
        half,
        eps,
        native.threads,
    )
    return out
