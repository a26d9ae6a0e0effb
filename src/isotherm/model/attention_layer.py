"""The attention token mixer: one fused projection, norms and rotation, paged attention, an output gate, a projection."""

from dataclasses import dataclass

import torch
from torch import Tensor

from isotherm.kernels.api import Kernels, Linear, RopeTable
from isotherm.kernels.batch import Batch
from isotherm.kernels.state import KVStore
from isotherm.kernels.weight import Weight, rows
from isotherm.model.checkpoint import Checkpoint
from isotherm.model.projection import Projection, load_projection, project
from isotherm.model.spec import ModelSpec


@dataclass(frozen=True, slots=True)
class AttentionLayer:
    """Gated attention with grouped queries, as in Qwen3-Next and Qwen3.5.

    project: [(2*Hq + 2*H)*D, hidden], rows in the order q, gate, k, v. query_norm, key_norm: [D] float32, one added.
    skip: 1 leaves key 0 out for every row but the first.
    """

    project: Projection
    query_norm: Tensor
    key_norm: Tensor
    out: Linear
    query_heads: int
    norm_eps: float
    skip: int = 0

    def forward(
        self, kernels: Kernels, batch: Batch, x: Tensor, residual: Tensor, rope: RopeTable, store: KVStore
    ) -> Tensor:
        """x (normed) and residual [M, hidden] -> residual + mixer(x) [M, hidden]."""
        dim = store.shape.dim
        queries, keys = self.query_heads * dim, store.shape.heads * dim
        q, gate, k, v = project(kernels, x, self.project, [queries, queries, keys, keys])
        q = kernels.norm_rope(q, self.query_norm, self.norm_eps, batch.positions, rope)
        k = kernels.norm_rope(k, self.key_norm, self.norm_eps, batch.positions, rope)
        kernels.write_kv(batch, k, v, store)
        out = kernels.attention(batch, q, store, dim**-0.5, self.skip)
        return kernels.linear(kernels.sigmoid_mul(out, gate), self.out, residual)


def load_attention_layer(checkpoint: Checkpoint, prefix: str, spec: ModelSpec, kernels: Kernels) -> AttentionLayer:
    """Reads `prefix`self_attn.*; q_proj holds each head's query rows and then its gate rows."""
    at, dim, hidden = f"{prefix}self_attn.", spec.kv.dim, spec.hidden_size
    return AttentionLayer(
        project=load_projection(kernels, attention_rows(checkpoint, at, spec)),
        query_norm=checkpoint.take(f"{at}q_norm.weight", dim).float() + 1.0,
        key_norm=checkpoint.take(f"{at}k_norm.weight", dim).float() + 1.0,
        out=kernels.pack(checkpoint.take_weight(f"{at}o_proj.weight", hidden, spec.query_heads * dim)),
        query_heads=spec.query_heads,
        norm_eps=spec.norm_eps,
    )


def attention_rows(checkpoint: Checkpoint, at: str, spec: ModelSpec) -> list[Weight]:
    """The rows that make q, gate, k and v."""
    dim, hidden = spec.kv.dim, spec.hidden_size
    queries, keys = spec.query_heads * dim, spec.kv.heads * dim
    q_gate = checkpoint.take_weight(f"{at}q_proj.weight", 2 * queries, hidden)
    q, gate = torch.arange(2 * queries).view(spec.query_heads, 2, dim).unbind(1)
    return [
        rows(q_gate, q.reshape(-1)),
        rows(q_gate, gate.reshape(-1)),
        checkpoint.take_weight(f"{at}k_proj.weight", keys, hidden),
        checkpoint.take_weight(f"{at}v_proj.weight", keys, hidden),
    ]
