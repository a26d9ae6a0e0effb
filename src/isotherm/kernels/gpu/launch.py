"""How kernels are launched."""

import os
from typing import Any

import torch
from torch import Tensor

OPTIONS: dict[str, Any] = {"enable_fp_fusion": False}
"""For every kernel: a product and a sum are one fused operation only where the kernel says so."""


def interpreted() -> bool:
    """Whether Triton runs its kernels in the interpreter, on the CPU (tests)."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def overlap() -> dict[str, Any]:
    """For kernels that wait for their predecessor themselves: start before it has ended (programmatic dependent launch)."""
    return {"OVERLAP": False} if interpreted() else {"OVERLAP": True, "launch_pdl": True}


def descriptor(x: Any, rows: int, columns: int) -> Any:
    """A tensor descriptor of x [M, K], read in tiles of [rows, columns]; zeros beyond its edges."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    return TensorDescriptor(x, list(x.shape), list(x.stride()), [rows, columns])


def aligned(x: Tensor) -> Tensor:
    """x [M, K], or a copy whose rows begin at multiples of 16 bytes.

    Triton compiles a kernel apart for arguments that are known to be aligned, and a sum along a tile's row follows the layout
    that it then chooses. Kernels with such a sum are given aligned rows only, and so have one build for a row's shape.
    """
    unit = 16 // x.element_size()
    if x.stride(1) == 1 and x.stride(0) % unit == 0 and x.data_ptr() % 16 == 0:
        return x
    wide = torch.empty(x.shape[0], -(-x.shape[1] // unit) * unit, dtype=x.dtype, device=x.device)
    return wide[:, : x.shape[1]].copy_(x)


def units(x: Tensor) -> int:
    """The row stride of an aligned matrix in 16 bytes: kernels take it so, and know its alignment."""
    return x.stride(0) * x.element_size() // 16
