"""Attention in torch: one position and one block of 64 keys a call; every block is a split of its own."""

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK, blocks_for
from isotherm.kernels.batch import Batch
from isotherm.kernels.fixed import fresh, one_thread
from isotherm.kernels.segments import segment_views
from isotherm.kernels.state import KVShape, KVStore


def kv_store(dtype: torch.dtype, shape: KVShape, blocks: int) -> KVStore:
    """k and v [blocks, H, 64, D], touched only where written."""
    size = (blocks, shape.heads, BLOCK, shape.dim)
    return KVStore(shape, torch.empty(size, dtype=dtype), torch.empty(size, dtype=dtype))


def write_kv(batch: Batch, k: Tensor, v: Tensor, store: KVStore) -> None:
    """See isotherm.kernels.api.Kernels.write_kv."""
    for view in segment_views(batch):
        for position in range(view.start, view.end):
            block, row = view.blocks[position // BLOCK], view.row + position - view.start
            store.k[block, :, position % BLOCK] = k[row].reshape(store.shape.heads, store.shape.dim)
            store.v[block, :, position % BLOCK] = v[row].reshape(store.shape.heads, store.shape.dim)


@one_thread()
def attention(batch: Batch, q: Tensor, store: KVStore, scale: float, skip: int = 0) -> Tensor:
    """See isotherm.kernels.api.Kernels.attention."""
    out = torch.empty(q.shape, dtype=q.dtype)
    for view in segment_views(batch):
        for position in range(view.start, view.end):
            row = view.row + position - view.start
            queries = fresh(q[row].reshape(store.shape.heads, -1, store.shape.dim))
            out[row] = _row(queries, position, view.blocks, store, scale, min(skip, position)).reshape(-1)
    return out


def _row(q: Tensor, position: int, blocks: tuple[int, ...], store: KVStore, scale: float, skip: int) -> Tensor:
    """q [H, group, D] float32 -> [H, group, D] float32."""
    m, total, acc = _block(q, position + 1, store, blocks[0], scale, skip)
    for i in range(1, blocks_for(position + 1)):
        m_i, total_i, acc_i = _block(q, position + 1 - i * BLOCK, store, blocks[i], scale)
        largest = torch.maximum(m, m_i)
        before, after = torch.exp(m - largest), torch.exp(m_i - largest)
        m, total, acc = largest, total * before + total_i * after, acc * before + acc_i * after
    return acc / total


def _block(
    q: Tensor, limit: int, store: KVStore, block: int, scale: float, skip: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    """The softmax of one block's keys skip..limit: m, l [H, group, 1] and acc [H, group, D]."""
    places = torch.arange(BLOCK)
    live = (places >= skip) & (places < limit)
    keys = fresh(torch.where(live[:, None], store.k[block], 0).transpose(1, 2))
    values = fresh(torch.where(live[:, None], store.v[block], 0))
    scores = torch.where(live, torch.bmm(q, keys) * scale, -torch.inf)
    m = scores.amax(-1, keepdim=True)
    p = torch.where(live, torch.exp(scores - m), 0.0)
    return m, p.sum(-1, keepdim=True), torch.bmm(p.to(store.v.dtype).float(), values)
