"""The indexed attention token mixer (QSA): as AttentionLayer, over the keys that an indexer chooses for each row."""

from dataclasses import dataclass

from torch import Tensor

from isotherm.kernels.api import Kernels, Linear, RopeTable
from isotherm.kernels.batch import Batch
from isotherm.kernels.state import IndexedStore
from isotherm.model.attention_layer import attention_rows
from isotherm.model.checkpoint import Checkpoint
from isotherm.model.projection import Projection, load_projection, project
from isotherm.model.spec import IndexSpec, ModelSpec


@dataclass(frozen=True, slots=True)
class IndexedLayer:
    """project: [(2*Hq + 2*H)*D + (heads+1)*DI, hidden], rows in the order q, gate, k, v, index q, index k.

    query_norm, key_norm: [D], index_query_norm, index_key_norm: [DI], float32, one added.
    """

    project: Projection
    query_norm: Tensor
    key_norm: Tensor
    index_query_norm: Tensor
    index_key_norm: Tensor
    out: Linear
    query_heads: int
    index: IndexSpec
    norm_eps: float

    def forward(self, kernels: Kernels, batch: Batch, x: Tensor, rope: RopeTable, store: IndexedStore) -> Tensor:
        """x (mixed from streams that are normed) [M, hidden] -> mixer(x) [M, hidden]."""
        dim, eps, positions = store.kv.dim, self.norm_eps, batch.positions
        queries, keys, index_dim = self.query_heads * dim, store.kv.heads * dim, self.index.shape.dim
        sizes = [queries, queries, keys, keys, self.index.heads * index_dim, index_dim]
        q, gate, k, v, index_q, index_k = project(kernels, x, self.project, sizes)
        q = kernels.norm_rope(q, self.query_norm, eps, positions, rope)
        k = kernels.norm_rope(k, self.key_norm, eps, positions, rope)
        kernels.write_indexed(batch, k, v, index_k, self.index_key_norm, eps, rope, store)
        index_q = kernels.norm_rope(index_q, self.index_query_norm, eps, positions, rope)
        chosen = kernels.select(batch, index_q, store, self.index.most)
        out = kernels.indexed_attention(batch, q, store, chosen, dim**-0.5)
        return kernels.linear(kernels.sigmoid_mul(out, gate), self.out)


def load_indexed_layer(checkpoint: Checkpoint, prefix: str, spec: ModelSpec, kernels: Kernels) -> IndexedLayer:
    """Reads `prefix`self_attn.* and its indexer."""
    assert spec.index is not None
    at, dim, hidden, index = f"{prefix}self_attn.", spec.kv.dim, spec.hidden_size, spec.index
    indexer, index_dim = f"{at}indexer.", index.shape.dim
    rows = attention_rows(checkpoint, at, spec)
    rows.append(checkpoint.take_weight(f"{indexer}index_qk_proj.weight", (index.heads + 1) * index_dim, hidden))
    return IndexedLayer(
        project=load_projection(kernels, rows),
        query_norm=checkpoint.take(f"{at}q_norm.weight", dim).float() + 1.0,
        key_norm=checkpoint.take(f"{at}k_norm.weight", dim).float() + 1.0,
        index_query_norm=checkpoint.take(f"{indexer}q_layernorm.weight", index_dim).float() + 1.0,
        index_key_norm=checkpoint.take(f"{indexer}k_layernorm.weight", index_dim).float() + 1.0,
        out=kernels.pack(checkpoint.take_weight(f"{at}o_proj.weight", hidden, spec.query_heads * dim)),
        query_heads=spec.query_heads,
        index=index,
        norm_eps=spec.norm_eps,
    )
