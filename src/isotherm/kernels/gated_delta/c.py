"""The gated delta rule in C."""

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK
from isotherm.kernels.batch import Batch
from isotherm.kernels.native.arguments import matrix, vector
from isotherm.kernels.native.library import Library
from isotherm.kernels.native.memory import large_pages
from isotherm.kernels.state import DeltaShape, DeltaState

_LANES = 16


def delta_state(shape: DeltaShape, slots: int, lanes: int) -> DeltaState:
    """state [slots, Hv, DK, C]; rows k [lanes, Hk, DK, 64], u [lanes, Hv, 64, C], G [lanes, Hv, 64]; all float32.

    C is DV rounded up to 16, the added columns always 0. Rows, which every token reads again, lie in large pages; slots do not,
    because the system takes milliseconds to find and clear a large page, and a new slot would wait for it.
    """
    if shape.value_heads % shape.key_heads:
        raise ValueError(f"value_heads: must be a multiple of {shape.key_heads}, got {shape.value_heads}")
    columns = -(-shape.value_dim // _LANES) * _LANES
    state = torch.empty(slots, shape.value_heads, shape.key_dim, columns)
    state[0].zero_()
    rows = {
        "k": large_pages(lanes, shape.key_heads, shape.key_dim, BLOCK, dtype=torch.float32),
        "u": large_pages(lanes, shape.value_heads, BLOCK, columns, dtype=torch.float32),
        "G": torch.empty(lanes, shape.value_heads, BLOCK),
    }
    return DeltaState(shape, state, rows)


def gated_delta(
    native: Library, batch: Batch, qkv: Tensor, b: Tensor, a: Tensor, decay: Tensor, dt_bias: Tensor, state: DeltaState
) -> Tensor:
    """See isotherm.kernels.api.Kernels.gated_delta."""
    shape, heads = state.shape, state.shape.value_heads
    width = 2 * shape.key_heads * shape.key_dim + heads * shape.value_dim
    qkv_stride = matrix(qkv, native.dtype, "qkv", width, batch.rows)
    b_stride, a_stride = (matrix(x, native.dtype, name, heads, batch.rows) for x, name in ((b, "b"), (a, "a")))
    out = native.empty(batch.rows, heads * shape.value_dim)
    pointers = native.pointers(batch)
    native.function("iso_gated_delta", "pplplplppppppplllli")(
        pointers.address,
        qkv.data_ptr(),
        qkv_stride,
        b.data_ptr(),
        b_stride,
        a.data_ptr(),
        a_stride,
        vector(decay, torch.float32, "decay", heads),
        vector(dt_bias, torch.float32, "dt_bias", heads),
        vector(state.state, torch.float32, "state"),
        *(vector(state.rows[name], torch.float32, name) for name in ("k", "u", "G")),
        out.data_ptr(),
        shape.key_heads,
        heads,
        shape.key_dim,
        shape.value_dim,
        native.threads,
    )
    return out
