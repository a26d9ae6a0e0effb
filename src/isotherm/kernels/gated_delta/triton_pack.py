"""A pass's rows by place, as the GPU kernels of the gated delta rule read them."""

from dataclasses import dataclass

import triton
from torch import Tensor

from isotherm.kernels.gated_delta import triton_rows
from isotherm.kernels.gated_delta.plan import DeltaPlan
from isotherm.kernels.gated_delta.reference import EPSILON
from isotherm.kernels.gpu.launch import OPTIONS, overlap
from isotherm.kernels.state import DeltaShape, DeltaState


@dataclass(frozen=True, slots=True)
class PackedRows:
    """A pass's rows by place: q, k [places, Hk, DK] at unit length, beta, g [places, Hv] float32."""

    q: Tensor
    k: Tensor
    beta: Tensor
    g: Tensor

    @staticmethod
    def pack(
        plan: DeltaPlan, qkv: Tensor, b: Tensor, a: Tensor, decay: Tensor, dt_bias: Tensor, state: DeltaState
    ) -> "PackedRows":
        shape, places = state.shape, plan.sources.shape[0]
        q, k = (qkv.new_empty(places, shape.key_heads, shape.key_dim) for _ in range(2))
        beta, g = (decay.new_empty(places, shape.value_heads) for _ in range(2))
        triton_rows.pack_rows[(places,)](
            plan.sources,
            plan.keeps,
            qkv,
            b,
            a,
            decay,
            dt_bias,
            q,
            k,
            beta,
            g,
            state.rows["k"],
            state.rows["v"],
            state.rows["beta"],
            qkv.stride(0),
            b.stride(0),
            a.stride(0),
            shape.key_dim**-0.5,
            HK=shape.key_heads,
            HV=shape.value_heads,
            DK=shape.key_dim,
            DV=shape.value_dim,
            **padded(shape),
            EPSILON=EPSILON,
            num_warps=4,
            **overlap(),
            **OPTIONS,
        )
        return PackedRows(q, k, beta, g)


def padded(shape: DeltaShape) -> dict[str, int]:
    """Head counts rounded up to powers of two, which tiles need."""
    return {"BK": triton.next_power_of_2(shape.key_heads), "BH": triton.next_power_of_2(shape.value_heads)}
