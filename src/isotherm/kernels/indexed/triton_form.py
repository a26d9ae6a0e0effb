"""Indexed attention on the GPU: launches of triton_kernels and triton_attend."""

import math
from typing import Any

import torch
import triton
from torch import Tensor

from isotherm.core.constants import BLOCK
from isotherm.kernels.api import RopeTable
from isotherm.kernels.attention.triton_form import kv_store, write_kv
from isotherm.kernels.batch import Batch
from isotherm.kernels.gpu.batch import on_device
from isotherm.kernels.gpu.launch import OPTIONS, overlap
from isotherm.kernels.gpu.rows import row_plan
from isotherm.kernels.indexed import triton_attend as ta
from isotherm.kernels.indexed import triton_kernels as tk
from isotherm.kernels.indexed.plan import reach
from isotherm.kernels.norm.triton_form import warps
from isotherm.kernels.state import IndexedStore, IndexShape, KVShape, KVStore

SPLIT = 8
"""Blocks of a row's list a split. Part of the bits."""

SCORES = 128
"""Scores a program makes."""

_MOST_LISTED = 16_384
"""Scores that a program looks at at once. No part of the bits, which are integers."""

_TWO_EACH = 264
"""Programs below which each split of a list has one of its own: two for each of 132 processors. No part of the bits."""


def indexed_store(
    dtype: torch.dtype, kv: KVShape, index: IndexShape, blocks: int, device: torch.device
) -> IndexedStore:
    """k and v [blocks, H, 64, D], keys [blocks, 64, DI], pooled [blocks, 64/R, DI], touched only where written."""
    pages = kv_store(dtype, kv, blocks, device)
    keys, pooled = (
        torch.empty(blocks, size, index.dim, dtype=dtype, device=device) for size in (BLOCK, BLOCK // index.ratio)
    )
    return IndexedStore(kv, index, pages.k, pages.v, keys, pooled)


def write_indexed(
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
    on, index, half = on_device(batch, k.device), store.index, table.cos.shape[1]
    write_kv(on, k, v, KVStore(store.kv, store.k, store.v))
    places = on.positions, row_plan(on).segments, on.block_offsets, on.blocks
    columns = triton.next_power_of_2(index.dim)
    tk.write_keys[(on.rows,)](
        *places,
        index_key,
        store.keys,
        index_key.stride(0),
        DI=index.dim,
        BD=columns,
        num_warps=1,
        **overlap(),
        **OPTIONS,
    )
    tk.pool[(on.rows,)](
        *places, store.keys, store.pooled, weight, table.cos, table.sin, eps,
        DI=index.dim, HALF=half, BD=columns, BR=triton.next_power_of_2(half), RATIO=index.ratio, SKIP=index.skip,
        num_warps=warps(columns), **overlap(), **OPTIONS,
    )  # fmt: skip


def select(batch: Batch, q: Tensor, store: IndexedStore, most: int) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.select: the list of triton_kernels, [M, most + 1, 3] int32."""
    on, dim, ratio = on_device(batch, q.device), store.index.dim, store.index.ratio
    heads = q.shape[1] // dim
    if heads * dim != q.shape[1]:
        raise ValueError(f"q: {q.shape[1]} columns do not make heads of {dim}")
    blocks = reach(on)
    width, length = blocks * (BLOCK // ratio), most + 1
    scores = torch.empty(on.rows if width > most else 1, width, dtype=torch.float32, device=q.device)
    if width > most:
        tk.score[(on.rows, triton.cdiv(width, SCORES))](
            on.positions, row_plan(on).segments, on.block_offsets, on.blocks, q, store.pooled, scores, q.stride(0), width,
            HEADS=heads, BH=max(16, triton.next_power_of_2(heads)), DI=dim, BD=max(16, triton.next_power_of_2(dim)),
            RATIO=ratio, MOST=most, BN=SCORES, **overlap(), **OPTIONS,
        )  # fmt: skip
    chosen = torch.empty(on.rows, length, 3, dtype=torch.int32, device=q.device)
    listed = max(64, min(triton.next_power_of_2(width), _MOST_LISTED))
    tk.choose[(on.rows,)](
        on.positions, scores, chosen, width,
        RATIO=ratio, MOST=most, LENGTH=length, BG=listed, BL=triton.next_power_of_2(length),
        num_warps=max(1, min(16, listed // 512)), **overlap(), **OPTIONS,
    )  # fmt: skip
    return chosen


def indexed_attention(batch: Batch, q: Tensor, store: IndexedStore, chosen: Tensor, scale: float) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.indexed_attention. chosen: as `select` made it."""
    on, heads, dim, length = on_device(batch, q.device), store.kv.heads, store.kv.dim, chosen.shape[1]
    group = q.shape[1] // (heads * dim)
    if group * heads * dim != q.shape[1]:
        raise ValueError(f"q: {q.shape[1]} columns do not share {heads} heads of {dim}")
    rows, height = on.rows, max(16, triton.next_power_of_2(group))
    splits = triton.cdiv(length, SPLIT) if rows * heads < _TWO_EACH else 1
    waiting = rows * heads * splits * height if splits > 1 else 0
    m, l = (torch.empty(waiting, dtype=torch.float32, device=q.device) for _ in range(2))
    acc = torch.empty(waiting, dim, dtype=torch.float32, device=q.device)
    out = torch.empty(rows, q.shape[1], dtype=q.dtype, device=q.device)
    sizes: dict[str, Any] = {"HEADS": heads, "GROUP": group, "D": dim, "BM": height, "LENGTH": length}
    sizes |= {"BL": triton.next_power_of_2(length), "SPLIT": SPLIT, "SPLITS": splits} | overlap() | OPTIONS
    ta.attend_chosen[(rows, heads, splits)](
        on.positions, row_plan(on).segments, on.block_offsets, on.blocks, chosen, q, store.k, store.v, out, m, l, acc,
        q.stride(0), scale * math.log2(math.e),
        RATIO=store.index.ratio, SKIP=store.index.skip, num_warps=4, num_stages=2, **sizes,
    )  # fmt: skip
    if splits > 1:
        columns = min(64, dim)
        ta.combine_chosen[(rows, heads, dim // columns)](chosen, m, l, acc, out, BD=columns, **sizes)
    return out
