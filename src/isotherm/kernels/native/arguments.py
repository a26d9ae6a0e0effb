"""The one place where the tensors given to C kernels are checked."""

import torch
from torch import Tensor


def matrix(x: Tensor, dtype: torch.dtype, name: str, columns: int | None = None, rows: int | None = None) -> int:
    """Check that x is a CPU matrix of `dtype` with unit column stride, and of the given size; its row stride in elements."""
    shape = x.shape
    if x.dtype != dtype or len(shape) != 2 or not x.is_cpu:
        raise ValueError(f"{name}: must be a {dtype} matrix on the CPU, got {x.dtype} {tuple(shape)} on {x.device}")
    if (columns is not None and shape[1] != columns) or (rows is not None and shape[0] != rows):
        wanted = ("any" if rows is None else rows, "any" if columns is None else columns)
        raise ValueError(f"{name}: must be {list(wanted)}, got {list(shape)}")
    row, column = x.stride()
    if column != 1 and shape[1] > 1:
        raise ValueError(f"{name}: must have unit column stride, got strides {(row, column)}")
    return row


def vector(x: Tensor, dtype: torch.dtype, name: str, size: int | None = None) -> int:
    """Check that x is a contiguous CPU tensor of `dtype`, and of the given number of elements; its address."""
    if x.dtype != dtype or not x.is_cpu or not x.is_contiguous():
        raise ValueError(
            f"{name}: must be a contiguous {dtype} tensor on the CPU, got {x.dtype} with strides {x.stride()}"
        )
    if size is not None and x.numel() != size:
        raise ValueError(f"{name}: must have {size} elements, got {x.numel()}")
    return x.data_ptr()
