"""Paged attention in C."""

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK
from isotherm.kernels.batch import Batch
from isotherm.kernels.native.arguments import matrix, vector
from isotherm.kernels.native.library import Library
from isotherm.kernels.state import KVShape, KVStore

_LANES = 16


def kv_store(native: Library, shape: KVShape, blocks: int) -> KVStore:
    """k [blocks, H, ceil(D/P), 64, P] and v [blocks, H, 64/P * C, P], P = 2 in bfloat16 and 1 in float32 (attention/layout.h).

    C is D rounded up to 16, the added columns always 0. Touched only where written.
    """
    pair = 2 if native.dtype == torch.bfloat16 else 1
    columns = -(-shape.dim // _LANES) * _LANES
    k = torch.empty(blocks, shape.heads, -(-shape.dim // pair), BLOCK, pair, dtype=native.dtype)
    v = torch.empty(blocks, shape.heads, BLOCK // pair * columns, pair, dtype=native.dtype)
    return KVStore(shape, k, v)


def write_kv(native: Library, batch: Batch, k: Tensor, v: Tensor, store: KVStore) -> None:
    """See isotherm.kernels.api.Kernels.write_kv."""
    columns = store.shape.heads * store.shape.dim
    k_stride, v_stride = (matrix(x, native.dtype, name, columns, batch.rows) for x, name in ((k, "k"), (v, "v")))
    pointers = native.pointers(batch)
    native.function("iso_write_kv", "pplplpplli")(
        pointers.address,
        k.data_ptr(),
        k_stride,
        v.data_ptr(),
        v_stride,
        vector(store.k, native.dtype, "store.k"),
        vector(store.v, native.dtype, "store.v"),
        store.shape.heads,
        store.shape.dim,
        native.threads,
    )


def attention(native: Library, batch: Batch, q: Tensor, store: KVStore, scale: float, skip: int = 0) -> Tensor:
    """See isotherm.kernels.api.Kernels.attention."""
    stride = matrix(q, native.dtype, "q", rows=batch.rows)
    query_heads = q.shape[1] // store.shape.dim
    if query_heads * store.shape.dim != q.shape[1] or query_heads % store.shape.heads:
        raise ValueError(f"q: {q.shape[1]} columns do not share {store.shape.heads} heads of {store.shape.dim}")
    out = native.empty(*q.shape)
    pointers = native.pointers(batch)
    native.function("iso_attention", "pplppplllfli")(
        pointers.address,
        q.data_ptr(),
        stride,
        vector(store.k, native.dtype, "store.k"),
        vector(store.v, native.dtype, "store.v"),
        out.data_ptr(),
        query_heads,
        store.shape.heads,
        store.shape.dim,
        scale,
        skip,
        native.threads,
    )
    return out
