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
class RawRows:
    """A pass's rows as they come: see isotherm.kernels.api.Kernels.gated_delta."""

    qkv: Tensor
    b: Tensor
    a: Tensor
    decay: Tensor
    dt_bias: Tensor

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """In the kernels' order."""
        return self.qkv, self.b, self.a, self.decay, self.dt_bias

    @property
    def strides(self) -> tuple[int, int, int]:
        """Of qkv, b and a."""
        return self.qkv.stride(0), self.b.stride(0), self.a.stride(0)


@dataclass(frozen=True, slots=True)
class PackedRows:
    """A pass's rows by place: q, k [places, Hk, DK] at unit length, beta, g [places, Hv] float32."""

    q: Tensor
    k: Tensor
    beta: Tensor
    g: Tensor

    @staticmethod
    def empty(plan: DeltaPlan, raw: RawRows, shape: DeltaShape) -> "PackedRows":
        """Room for them."""
        places = plan.sources.shape[0]
        q, k = (raw.qkv.new_empty(places, shape.key_heads, shape.key_dim) for _ in range(2))
        beta, g = (raw.decay.new_empty(places, shape.value_heads) for _ in range(2))
        return PackedRows(q, k, beta, g)

    def pack(self, plan: DeltaPlan, raw: RawRows, state: DeltaState) -> None:
        """Fills them, and keeps what lanes keep of lone rows."""
        shape = state.shape
        triton_rows.pack_rows[(plan.sources.shape[0],)](
            plan.sources,
            plan.keeps,
            *raw.tensors,
            self.q,
            self.k,
            self.beta,
            self.g,
            state.rows["k"],
            state.rows["v"],
            state.rows["beta"],
            *raw.strides,
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


def padded(shape: DeltaShape) -> dict[str, int]:
    """Head counts rounded up to powers of two, which tiles need."""
    return {"BK": triton.next_power_of_2(shape.key_heads), "BH": triton.next_power_of_2(shape.value_heads)}
