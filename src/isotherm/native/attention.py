"""Attention by torch's scaled_dot_product_attention over gathered blocks."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from isotherm.core.constants import BLOCK, blocks_for
from isotherm.kernels.batch import Batch
from isotherm.kernels.segments import SegmentView, segment_views
from isotherm.kernels.state import KVShape, KVStore
from isotherm.native.linear import DTYPE

MASKED_ROWS = 1024
"""Rows a call when a mask is needed, so that the mask of a long prompt stays small."""


def kv_store(shape: KVShape, blocks: int) -> KVStore:
    """k and v [blocks, 64, H, D]."""
    size = (blocks, BLOCK, shape.heads, shape.dim)
    return KVStore(shape, torch.empty(size, dtype=DTYPE), torch.empty(size, dtype=DTYPE))


def write_kv(batch: Batch, k: Tensor, v: Tensor, store: KVStore) -> None:
    """k, v [M, H*D] into their blocks, but for the rows of a replay that does not write again."""
    replays = batch.replays or (None,) * batch.segments
    for view, replay in zip(segment_views(batch), replays, strict=True):
        first = view.start if replay is None or replay.rewrites else min(max(view.start, replay.until), view.end)
        rows = slice(view.row + first - view.start, view.row + view.end - view.start)
        positions = torch.arange(first, view.end)
        places = torch.tensor(view.blocks)[positions // BLOCK], positions % BLOCK
        for kept, new in ((store.k, k), (store.v, v)):
            kept[places] = new[rows].reshape(-1, store.shape.heads, store.shape.dim)


def attention(batch: Batch, q: Tensor, store: KVStore, scale: float) -> Tensor:
    """q [M, Hq*D] -> [M, Hq*D], segment by segment."""
    out = torch.empty(q.shape, dtype=q.dtype)
    for view in segment_views(batch):
        rows = slice(view.row, view.row + view.end - view.start)
        queries = q[rows].reshape(view.end - view.start, -1, store.shape.dim)
        out[rows] = _segment(queries, view, store, scale).reshape(view.end - view.start, -1)
    return out


def attention_from(batch: Batch, q: Tensor, store: KVStore, scale: float, firsts: Sequence[int]) -> Tensor:
    """The same, but keys before firsts[i] are left out for every row of segment i but themselves: a row sees its own at least.

    No segment starts before firsts[i] - 1.
    """
    out = torch.empty(q.shape, dtype=q.dtype)
    for view, first in zip(segment_views(batch), firsts, strict=True):
        lowest = min(first, view.start)
        k, v = _gathered(view, store, lowest)
        keys = torch.arange(lowest, view.end)
        for row in range(0, view.end - view.start, MASKED_ROWS):
            positions = torch.arange(view.start + row, min(view.end, view.start + row + MASKED_ROWS))[:, None]
            rows = slice(view.row + row, view.row + row + len(positions))
            queries = q[rows].reshape(len(positions), -1, store.shape.dim)
            mask = (keys <= positions) & ((keys >= first) | (keys == positions))
            out[rows] = _masked(queries, k, v, scale, mask).reshape(len(positions), -1)
    return out


def _gathered(view: SegmentView, store: KVStore, lowest: int = 0) -> tuple[Tensor, Tensor]:
    """Keys and values of positions lowest..end, each [1, H, T, D]."""
    blocks = torch.tensor(view.blocks[: blocks_for(view.end)])
    k, v = (kept[blocks].flatten(0, 1)[lowest : view.end].transpose(0, 1)[None] for kept in (store.k, store.v))
    return k, v


def _segment(q: Tensor, view: SegmentView, store: KVStore, scale: float) -> Tensor:
    """q [n, Hq, D] -> [n, Hq, D]."""
    k, v = _gathered(view, store)
    if not view.start:
        return _attend(q, k, v, scale, causal=True)
    parts = torch.split(q, MASKED_ROWS)
    return torch.cat([_attend(part, k, v, scale, view.start + i * MASKED_ROWS) for i, part in enumerate(parts)])


def _attend(q: Tensor, k: Tensor, v: Tensor, scale: float, start: int = 0, causal: bool = False) -> Tensor:
    """q [n, Hq, D] at positions from `start`, k and v [1, H, T, D] -> [n, Hq, D]."""
    masked = not causal and q.shape[0] > 1
    mask = torch.ones(q.shape[0], k.shape[2], dtype=torch.bool).tril(start) if masked else None
    k, v = (k, v) if masked or causal else (k[:, :, : start + 1], v[:, :, : start + 1])
    return _masked(q, k, v, scale, mask, causal)


def _masked(q: Tensor, k: Tensor, v: Tensor, scale: float, mask: Tensor | None, causal: bool = False) -> Tensor:
    """q [n, Hq, D] and mask [n, T] -> [n, Hq, D]."""
    out = functional.scaled_dot_product_attention(
        q.transpose(0, 1)[None], k, v, attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=True
    )
    return out[0].transpose(0, 1)
