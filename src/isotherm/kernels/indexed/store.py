"""What an indexed attention layer keeps, and how a pass writes it: copies and one sum in a stated order, on every provider."""

from collections.abc import Callable

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK
from isotherm.kernels.batch import Batch
from isotherm.kernels.segments import segment_views
from isotherm.kernels.state import IndexedStore, IndexShape, KVShape

Finish = Callable[[Tensor, Tensor], Tensor]
"""Means [n, D] and the positions [n] of their groups' first tokens -> pooled keys [n, D]."""


def indexed_store(dtype: torch.dtype, kv: KVShape, index: IndexShape, blocks: int) -> IndexedStore:
    """k and v [blocks, H, 64, D], keys [blocks, 64, DI], pooled [blocks, 64/R, DI], touched only where written."""
    size = (blocks, kv.heads, BLOCK, kv.dim)
    return IndexedStore(
        kv,
        index,
        torch.empty(size, dtype=dtype),
        torch.empty(size, dtype=dtype),
        torch.empty(blocks, BLOCK, index.dim, dtype=dtype),
        torch.empty(blocks, BLOCK // index.ratio, index.dim, dtype=dtype),
    )


def places(batch: Batch) -> tuple[Tensor, Tensor]:
    """For each row its block's id and its place in the block, [M] int64 each."""
    counts = (batch.row_offsets[1:] - batch.row_offsets[:-1]).long()
    first = torch.repeat_interleave(batch.block_offsets[:-1].long(), counts)
    positions = batch.positions.long()
    return batch.blocks.long()[first + positions // BLOCK], positions % BLOCK


def write_indexed(batch: Batch, k: Tensor, v: Tensor, index_key: Tensor, store: IndexedStore, finish: Finish) -> None:
    """See isotherm.kernels.stream_api.StreamKernels.write_indexed."""
    blocks, offsets = places(batch)
    heads = (batch.rows, store.kv.heads, store.kv.dim)
    store.k[blocks, :, offsets] = k.reshape(heads)
    store.v[blocks, :, offsets] = v.reshape(heads)
    store.keys[blocks, offsets] = index_key
    _pool(batch, store, finish)


def _pool(batch: Batch, store: IndexedStore, finish: Finish) -> None:
    """The groups whose last token is in the pass; the other tokens may have come in earlier ones."""
    ratio = store.index.ratio
    blocks: list[int] = []
    starts: list[int] = []
    for view in segment_views(batch):
        done = range(view.start // ratio * ratio, view.end // ratio * ratio, ratio)
        starts += done
        blocks += [view.blocks[start // BLOCK] for start in done]
    if not starts:
        return
    block, first = torch.tensor(blocks), torch.tensor(starts)
    total = store.keys[block, first % BLOCK].float()
    for token in range(1, ratio):
        total = total + store.keys[block, first % BLOCK + token].float()
    means = (total / ratio).to(store.keys.dtype)
    store.pooled[block, first % BLOCK // ratio] = finish(means, first.to(torch.int32))
