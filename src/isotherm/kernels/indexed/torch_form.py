"""Indexed attention in torch: one position and one block of 64 keys a call."""

import math

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK, blocks_for
from isotherm.kernels.batch import Batch
from isotherm.kernels.fixed import fresh, one_thread
from isotherm.kernels.segments import segment_views
from isotherm.kernels.state import IndexedStore


@one_thread()
def select(batch: Batch, q: Tensor, store: IndexedStore, most: int) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.select."""
    ratio = store.index.ratio
    chosen = torch.zeros(batch.rows, groups_of(batch, ratio), dtype=torch.uint8)
    for view in segment_views(batch):
        for position in range(view.start, view.end):
            row, complete = view.row + position - view.start, (position + 1) // ratio
            if complete <= most:
                chosen[row, : position // ratio + 1] = 1
                continue
            queries = fresh(q[row].reshape(-1, store.index.dim).T)
            blocks = range(blocks_for(complete * ratio))
            scores = torch.cat([_scores(queries, store, view.blocks[i], complete * ratio - i * BLOCK) for i in blocks])
            order = torch.sort(scores[:complete], descending=True, stable=True).indices[:most]
            chosen[row, order] = 1
            if (position + 1) % ratio:
                chosen[row, complete] = 1
    return chosen


def groups_of(batch: Batch, ratio: int) -> int:
    """Columns of a pass's choice: the groups of its furthest row."""
    return int(batch.positions.max()) // ratio + 1


def _scores(queries: Tensor, store: IndexedStore, block: int, limit: int) -> Tensor:
    """queries [D, heads] float32 -> scores of one block's groups [64/R] float32, of those beyond `limit` tokens meaningless."""
    ratio = store.index.ratio
    live = torch.arange(BLOCK // ratio) < limit // ratio
    products = torch.relu(torch.mm(fresh(torch.where(live[:, None], store.pooled[block], 0)), queries))
    total = products[:, 0]
    for head in range(1, products.shape[1]):
        total = total + products[:, head]
    return total / math.sqrt(store.index.dim)


@one_thread()
def indexed_attention(batch: Batch, q: Tensor, store: IndexedStore, chosen: Tensor, scale: float) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.indexed_attention."""
    out = torch.empty(q.shape, dtype=q.dtype)
    for view in segment_views(batch):
        for position in range(view.start, view.end):
            row = view.row + position - view.start
            queries = fresh(q[row].reshape(store.kv.heads, -1, store.kv.dim))
            live = torch.repeat_interleave(chosen[row] != 0, store.index.ratio)[: position + 1]
            live[: min(store.index.skip, position)] = False
            out[row] = _row(queries, live, view.blocks, store, scale).reshape(-1)
    return out


def _row(q: Tensor, live: Tensor, blocks: tuple[int, ...], store: IndexedStore, scale: float) -> Tensor:
    """q [H, group, D] float32, live [t+1] bool -> [H, group, D] float32."""
    kept: tuple[Tensor, Tensor, Tensor] | None = None
    for i in range(blocks_for(len(live))):
        places = torch.zeros(BLOCK, dtype=torch.bool)
        part = live[i * BLOCK : (i + 1) * BLOCK]
        places[: len(part)] = part
        if not bool(places.any()):
            continue
        m_i, total_i, acc_i = _block(q, places, store, blocks[i], scale)
        if kept is None:
            kept = m_i, total_i, acc_i
            continue
        m, total, acc = kept
        largest = torch.maximum(m, m_i)
        before, after = torch.exp(m - largest), torch.exp(m_i - largest)
        kept = largest, total * before + total_i * after, acc * before + acc_i * after
    assert kept is not None, "a row attends to itself at least"
    return kept[2] / kept[1]


def _block(q: Tensor, live: Tensor, store: IndexedStore, block: int, scale: float) -> tuple[Tensor, Tensor, Tensor]:
    """The softmax of one block's live keys: m, l [H, group, 1] and acc [H, group, D]."""
    keys = fresh(torch.where(live[:, None], store.k[block], 0).transpose(1, 2))
    values = fresh(torch.where(live[:, None], store.v[block], 0))
    scores = torch.where(live, torch.bmm(q, keys) * scale, -torch.inf)
    m = scores.amax(-1, keepdim=True)
    p = torch.where(live, torch.exp(scores - m), 0.0)
    return m, p.sum(-1, keepdim=True), torch.bmm(p.to(store.v.dtype).float(), values)
