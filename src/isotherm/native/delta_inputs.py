"""What every form of the delta rule reads."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from isotherm.kernels.gated_delta.reference import EPSILON
from isotherm.kernels.state import DeltaShape


@dataclass(frozen=True, slots=True)
class Inputs:
    """q, k [n, Hv, DK], normalised; v [n, Hv, DV]; beta and g [n, Hv]; all float32."""

    q: Tensor
    k: Tensor
    v: Tensor
    beta: Tensor
    g: Tensor

    def rows(self, which: slice | list[int]) -> "Inputs":
        """Some of the rows."""
        return Inputs(self.q[which], self.k[which], self.v[which], self.beta[which], self.g[which])


def inputs_of(qkv: Tensor, b: Tensor, a: Tensor, decay: Tensor, dt_bias: Tensor, shape: DeltaShape) -> Inputs:
    """See isotherm.kernels.api.Kernels.gated_delta for the shapes and formulas."""
    rows, keys, group = qkv.shape[0], shape.key_heads * shape.key_dim, shape.value_heads // shape.key_heads
    q, k, v = torch.split(qkv.float(), [keys, keys, shape.value_heads * shape.value_dim], dim=1)
    q, k = (_normalise(x.reshape(rows, shape.key_heads, -1)).repeat_interleave(group, dim=1) for x in (q, k))
    return Inputs(
        q=q * shape.key_dim**-0.5,
        k=k,
        v=v.reshape(rows, shape.value_heads, -1),
        beta=torch.sigmoid(b.float()),
        g=decay * functional.softplus(a.float() + dt_bias),
    )


def _normalise(x: Tensor) -> Tensor:
    return x * torch.rsqrt((x * x).sum(dim=-1, keepdim=True) + EPSILON)
