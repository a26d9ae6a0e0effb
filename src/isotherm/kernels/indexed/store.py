"""What an indexed attention layer keeps, and how a pass writes it: copies and one sum in a stated order, on every provider."""

from collections.abc import Callable

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK
from isotherm.kernels.api import RopeTable
from isotherm.kernels.batch import Batch
from isotherm.kernels.segments import segment_views
from isotherm.kernels.state import IndexedStore, IndexShape, KVShape

NormRope = Callable[[Tensor, Tensor, float, Tensor, RopeTable], Tensor]
"""A provider's Kernels.norm_rope."""


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


def write_indexed(
    norm_rope: NormRope,
    batch: Batch,
    k: Tensor,
    v: Tensor,
    index_key: Tensor,
    weight: Tensor,
    eps: float,
    table: RopeTable,
    store: IndexedStore,
) -> None:
    """See isotherm.kernels.stream_api.StreamKernels.write_indexed."""
    blocks, offsets = places(batch)
    heads = (batch.rows, store.kv.heads, store.kv.dim)
    store.k[blocks, :, offsets] = k.reshape(heads)
    store.v[blocks, :, offsets] = v.reshape(heads)
    store.keys[blocks, offsets] = index_key
    block, first = _complete(batch, store.index.ratio)
    if len(block):
        pooled = norm_rope(_means(store, block, first), weight, eps, first.to(torch.int32), table)
        store.pooled[block, first % BLOCK // store.index.ratio] = pooled


def _complete(batch: Batch, ratio: int) -> tuple[Tensor, Tensor]:
    """The groups whose last token is in the pass: of each its block and its first token's position, [n] int64."""
    blocks: list[int] = []
    starts: list[int] = []
    for view in segment_views(batch):
        done = range(view.start // ratio * ratio, view.end // ratio * ratio, ratio)
        starts += done
        blocks += [view.blocks[start // BLOCK] for start in done]
    return torch.tensor(blocks, dtype=torch.int64), torch.tensor(starts, dtype=torch.int64)


def _means(store: IndexedStore, block: Tensor, first: Tensor) -> Tensor:
    """Of these groups' keys [n, DI], whichever passes they came in: summed in float32 over ascending positions."""
    ratio, skip = store.index.ratio, store.index.skip
    total = store.keys[block, first % BLOCK].float()
    if skip:
        total = torch.where((first == 0)[:, None], 0.0, total)
    for token in range(1, ratio):
        total = total + store.keys[block, first % BLOCK + token].float()
    counts = ratio - skip * (first == 0)[:, None].int()
    return (total / counts).to(store.keys.dtype)
