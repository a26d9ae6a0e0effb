"""The gated delta rule in torch: one position a call, always on a full chunk of 64 masked rows."""

from dataclasses import dataclass

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK
from isotherm.kernels.batch import Batch
from isotherm.kernels.fixed import fresh, one_thread
from isotherm.kernels.gated_delta.reference import EPSILON
from isotherm.kernels.segments import SegmentView, segment_views
from isotherm.kernels.state import DeltaShape, DeltaState


def delta_state(shape: DeltaShape, slots: int, lanes: int) -> DeltaState:
    """state [slots, Hv, DK, DV]; rows k [lanes, 64, Hk, DK], u [lanes, 64, Hv, DV], G [lanes, 64, Hv]; all float32."""
    state = torch.empty(slots, shape.value_heads, shape.key_dim, shape.value_dim)
    state[0].zero_()
    rows = {
        "k": torch.empty(lanes, BLOCK, shape.key_heads, shape.key_dim),
        "u": torch.empty(lanes, BLOCK, shape.value_heads, shape.value_dim),
        "G": torch.empty(lanes, BLOCK, shape.value_heads),
    }
    return DeltaState(shape, state, rows)


@dataclass(frozen=True, slots=True)
class _Token:
    """One position's inputs in float32: q, k [Hk, DK] normalised, v [Hv, DV], beta and g [Hv]."""

    q: Tensor
    k: Tensor
    v: Tensor
    beta: Tensor
    g: Tensor


@one_thread()
def gated_delta(
    batch: Batch, qkv: Tensor, b: Tensor, a: Tensor, decay: Tensor, dt_bias: Tensor, state: DeltaState
) -> Tensor:
    """See isotherm.kernels.api.Kernels.gated_delta."""
    out = torch.empty(qkv.shape[0], state.shape.value_heads * state.shape.value_dim, dtype=qkv.dtype)
    for view in segment_views(batch):
        _segment(view, qkv, b, a, decay, dt_bias, state, out)
    return out


def _segment(
    view: SegmentView, qkv: Tensor, b: Tensor, a: Tensor, decay: Tensor, dt_bias: Tensor, state: DeltaState, out: Tensor
) -> None:
    slots = dict(view.writes)
    h = fresh(state.state[view.state])
    lane = {name: rows[view.lane] for name, rows in state.rows.items()}
    for position in range(view.start, view.end):
        row = view.row + position - view.start
        token = _token(fresh(qkv[row]), fresh(b[row]), fresh(a[row]), decay, dt_bias, state.shape)
        out[row] = _row(position % BLOCK, token, h, lane).reshape(-1).to(out.dtype)
        if (position + 1) % BLOCK == 0:
            h = _fold(h, lane)
            if position + 1 in slots:
                state.state[slots[position + 1]] = h


def _token(qkv: Tensor, b: Tensor, a: Tensor, decay: Tensor, dt_bias: Tensor, shape: DeltaShape) -> _Token:
    keys, values = shape.key_heads * shape.key_dim, shape.value_heads * shape.value_dim
    q, k, v = torch.split(qkv, [keys, keys, values])
    return _Token(
        q=_normalise(q.reshape(shape.key_heads, shape.key_dim)) * shape.key_dim**-0.5,
        k=_normalise(k.reshape(shape.key_heads, shape.key_dim)),
        v=fresh(v.reshape(shape.value_heads, shape.value_dim)),
        beta=torch.sigmoid(b),
        g=decay * torch.nn.functional.softplus(a + dt_bias),
    )


def _normalise(x: Tensor) -> Tensor:
    x = fresh(x)
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + EPSILON)


def _row(i: int, token: _Token, h: Tensor, lane: dict[str, Tensor]) -> Tensor:
    """Row i of the chunk from h [Hv, DK, DV]; keeps its k, u, G in the lane. -> [Hv, DV] float32."""
    group = h.shape[0] // token.k.shape[0]
    past, upto = torch.arange(BLOCK) < i, torch.arange(BLOCK) <= i
    total = token.g if i == 0 else lane["G"][i - 1] + token.g
    lane["k"][i], lane["G"][i] = token.k, total
    keys = torch.where(upto[:, None, None], lane["k"], 0.0).permute(1, 2, 0).contiguous()  # [Hk, DK, 64]
    decays = torch.exp(total - torch.where(upto[:, None], lane["G"], total)).T.contiguous()  # [Hv, 64]
    kk, qk = (torch.bmm(x[:, None, :], keys).repeat_interleave(group, dim=0)[:, 0] for x in (token.k, token.q))
    kh, qh = (torch.bmm(x.repeat_interleave(group, dim=0)[:, None, :], h)[:, 0] for x in (token.k, token.q))
    grown = torch.exp(total)[:, None]
    a = torch.where(past, token.beta[:, None] * kk * decays, 0.0)
    p = torch.where(upto, qk * decays, 0.0)
    u = torch.where(past[:, None, None], lane["u"], 0.0).permute(1, 0, 2).contiguous()  # [Hv, 64, DV]
    lane["u"][i] = token.beta[:, None] * (token.v - grown * kh) - torch.bmm(a[:, None, :], u)[:, 0]
    u = torch.where(upto[:, None, None], lane["u"], 0.0).permute(1, 0, 2).contiguous()
    return grown * qh + torch.bmm(p[:, None, :], u)[:, 0]


def _fold(h: Tensor, lane: dict[str, Tensor]) -> Tensor:
    """The state 64 tokens after h, from a full lane."""
    group = h.shape[0] // lane["k"].shape[1]
    last = lane["G"][BLOCK - 1]
    decays = torch.exp(last - lane["G"])  # [64, Hv]
    keys = lane["k"].repeat_interleave(group, dim=1) * decays[:, :, None]  # [64, Hv, DK]
    added = torch.bmm(keys.permute(1, 2, 0).contiguous(), lane["u"].permute(1, 0, 2).contiguous())
    return torch.exp(last)[:, None, None] * h + added
