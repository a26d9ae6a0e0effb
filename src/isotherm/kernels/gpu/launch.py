"""How kernels are launched."""

import os
from typing import Any

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
