"""Indexed attention in C."""

import torch
from torch import Tensor

from isotherm.kernels.batch import Batch
from isotherm.kernels.indexed.torch_form import groups_of
from isotherm.kernels.native.arguments import matrix, vector
from isotherm.kernels.native.library import Library
from isotherm.kernels.state import IndexedStore


def select(native: Library, batch: Batch, q: Tensor, store: IndexedStore, most: int) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.select."""
    stride, dim, ratio = matrix(q, native.dtype, "q", rows=batch.rows), store.index.dim, store.index.ratio
    if q.shape[1] % dim:
        raise ValueError(f"q: {q.shape[1]} columns do not make heads of {dim}")
    chosen = torch.empty(batch.rows, groups_of(batch, ratio), dtype=torch.uint8)
    pointers = native.pointers(batch)
    native.function("iso_select", "pplppllllli")(
        pointers.address,
        q.data_ptr(),
        stride,
        vector(store.pooled, native.dtype, "store.pooled"),
        chosen.data_ptr(),
        q.shape[1] // dim,
        dim,
        ratio,
        chosen.shape[1],
        most,
        native.threads,
    )
    return chosen


def indexed_attention(
    native: Library, batch: Batch, q: Tensor, store: IndexedStore, chosen: Tensor, scale: float
) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.indexed_attention."""
    stride, heads, dim = matrix(q, native.dtype, "q", rows=batch.rows), store.kv.heads, store.kv.dim
    query_heads = q.shape[1] // dim
    if query_heads * dim != q.shape[1] or query_heads % heads:
        raise ValueError(f"q: {q.shape[1]} columns do not share {heads} heads of {dim}")
    out = native.empty(*q.shape)
    pointers = native.pointers(batch)
    native.function("iso_indexed_attention", "pplpppplllllfli")(
        pointers.address,
        q.data_ptr(),
        stride,
        vector(store.k, native.dtype, "store.k"),
        vector(store.v, native.dtype, "store.v"),
        vector(chosen, torch.uint8, "chosen"),
        out.data_ptr(),
        query_heads,
        heads,
        dim,
        store.index.ratio,
        chosen.shape[1],
        scale,
        store.index.skip,
        native.threads,
    )
    return out
