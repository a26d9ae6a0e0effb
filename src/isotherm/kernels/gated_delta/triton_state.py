"""Where the gated delta rule's state lives on the GPU."""

import torch

from isotherm.core.constants import BLOCK
from isotherm.kernels.state import DeltaShape, DeltaState

_HALF = BLOCK // 2


def delta_state(dtype: torch.dtype, shape: DeltaShape, slots: int, lanes: int, device: torch.device) -> DeltaState:
    """state [slots, Hv, DK, DV] float32. Rows: k [lanes, Hk, 64, DK], v, x, u [lanes, Hv, 64, DV], h [lanes, Hv, DK, DV], all
    `dtype`; D [lanes, Hv, 2, 32, 32], G, beta [lanes, Hv, 64] float32.

    ValueError: heads that do not share, or head dimensions that are no power of two from 16 on.
    """
    if shape.value_heads % shape.key_heads:
        raise ValueError(f"value_heads: must be a multiple of {shape.key_heads}, got {shape.value_heads}")
    for name, dim in (("key_dim", shape.key_dim), ("value_dim", shape.value_dim)):
        if dim < 16 or dim & (dim - 1):
            raise ValueError(f"{name}: the GPU kernels need a power of two of at least 16, got {dim}")
    hk, hv, dk, dv = shape.key_heads, shape.value_heads, shape.key_dim, shape.value_dim
    state = torch.empty(slots, hv, dk, dv, dtype=torch.float32, device=device)
    state[0].zero_()
    sizes = {"k": (hk, BLOCK, dk), "v": (hv, BLOCK, dv), "x": (hv, BLOCK, dv), "u": (hv, BLOCK, dv), "h": (hv, dk, dv)}
    rows = {name: torch.empty(lanes, *size, dtype=dtype, device=device) for name, size in sizes.items()}
    singles = {"D": (hv, 2, _HALF, _HALF), "G": (hv, BLOCK), "beta": (hv, BLOCK)}
    rows |= {name: torch.empty(lanes, *size, dtype=torch.float32, device=device) for name, size in singles.items()}
    return DeltaState(shape, state, rows)
