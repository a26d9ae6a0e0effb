"""The gated delta rule token by token, as its definition has it."""

import torch
from torch import Tensor

from isotherm.kernels.state import DeltaShape

EPSILON = 1e-6


def gated_delta(
    qkv: Tensor, b: Tensor, a: Tensor, decay: Tensor, dt_bias: Tensor, shape: DeltaShape, state: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """qkv [T, 2*Hk*DK + Hv*DV], b and a [T, Hv], decay and dt_bias [Hv] -> outputs [T, Hv*DV], state [Hv, DK, DV].

    Computed in qkv's dtype (float64 in tests), from `state` or zeros.
    """
    hk, hv, dk, dv = shape.key_heads, shape.value_heads, shape.key_dim, shape.value_dim
    q, k, v = torch.split(qkv, [hk * dk, hk * dk, hv * dv], dim=1)
    q, k = (_normalise(x.reshape(-1, hk, dk)).repeat_interleave(hv // hk, dim=1) for x in (q, k))
    v = v.reshape(-1, hv, dv)
    beta = torch.sigmoid(b)
    gate = torch.exp(decay * torch.nn.functional.softplus(a + dt_bias))
    s = qkv.new_zeros(hv, dk, dv) if state is None else state.clone()
    out = torch.empty_like(v)
    for t in range(v.shape[0]):
        s = s * gate[t][:, None, None]
        u = beta[t][:, None] * (v[t] - torch.einsum("hk,hkv->hv", k[t], s))
        s = s + k[t][:, :, None] * u[:, None, :]
        out[t] = torch.einsum("hk,hkv->hv", q[t], s) * dk**-0.5
    return out.reshape(-1, hv * dv), s


def _normalise(x: Tensor) -> Tensor:
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + EPSILON)
