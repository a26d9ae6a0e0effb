"""Paged attention on the GPU: launches of triton_kernels."""

import math
from dataclasses import dataclass
from typing import Any

import torch
import triton
from torch import Tensor

from isotherm.core.constants import BLOCK
from isotherm.kernels.attention import triton_kernels as tk
from isotherm.kernels.attention.plan import AttentionPlan, TilePlan, plan_attention
from isotherm.kernels.batch import Batch
from isotherm.kernels.gpu.batch import DeviceBatch, on_device
from isotherm.kernels.gpu.launch import OPTIONS, descriptor, interpreted, overlap
from isotherm.kernels.gpu.rows import row_plan
from isotherm.kernels.state import KVShape, KVStore

SPLIT = 2048
"""Keys a split. Part of the bits."""


@dataclass(frozen=True, slots=True)
class AttentionTile:
    """What may follow the card and not the bits: warps, stages, and how keys and values are read."""

    warps: int
    stages: int
    descriptor: bool = True


TILES = {16: AttentionTile(4, 2), 64: AttentionTile(4, 2), 128: AttentionTile(8, 2)}
FEW = {**TILES, 16: AttentionTile(4, 3)}
"""Where there are fewer programs than two for each of 132 processors, more blocks in flight pay."""

_TWO_EACH = 264


def kv_store(dtype: torch.dtype, shape: KVShape, blocks: int, device: torch.device) -> KVStore:
    """k, v [blocks, H, 64, D]. ValueError: a head dimension that is no power of two from 16 on."""
    if shape.dim < 16 or shape.dim & (shape.dim - 1):
        raise ValueError(f"dim: the GPU kernels need a power of two of at least 16, got {shape.dim}")
    size = (blocks, shape.heads, BLOCK, shape.dim)
    return KVStore(shape, *(torch.empty(size, dtype=dtype, device=device) for _ in range(2)))


def write_kv(batch: Batch, k: Tensor, v: Tensor, store: KVStore) -> None:
    """See isotherm.kernels.api.Kernels.write_kv."""
    shape, on = store.shape, on_device(batch, k.device)
    segments = row_plan(on).segments
    tk.write_pages[(on.rows,)](
        on.positions,
        segments,
        on.block_offsets,
        on.blocks,
        k,
        v,
        store.k,
        store.v,
        k.stride(0),
        v.stride(0),
        HEADS=shape.heads,
        D=shape.dim,
        BH=triton.next_power_of_2(shape.heads),
        num_warps=1,
        **OPTIONS,
    )


def attention(
    batch: Batch,
    q: Tensor,
    store: KVStore,
    scale: float,
    skip: int = 0,
    split: int = SPLIT,
    tiles: dict[int, AttentionTile] | None = None,
) -> Tensor:
    """See isotherm.kernels.api.Kernels.attention. `tiles` changes no bit; `split` does."""
    shape, on = store.shape, on_device(batch, q.device)
    group = q.shape[1] // (shape.heads * shape.dim)
    if group * shape.heads * shape.dim != q.shape[1]:
        raise ValueError(f"q: {q.shape[1]} columns do not share {shape.heads} heads of {shape.dim}")
    out = (torch.zeros if on.idle else torch.empty)(q.shape, dtype=q.dtype, device=q.device)
    for part in _plan(on, shape.heads, group, split).parts:
        chosen = tiles or (FEW if part.items.shape[0] * shape.heads < _TWO_EACH else TILES)
        _part(on, part, q, store, scale * math.log2(math.e), group, split, skip, chosen[part.pairs], out)
    return out


def _plan(batch: DeviceBatch, heads: int, group: int, split: int) -> AttentionPlan:
    return batch.plan(("attention", heads, group, split), lambda host: plan_attention(host, heads, group, split))


def _part(
    batch: DeviceBatch,
    part: TilePlan,
    q: Tensor,
    store: KVStore,
    scale: float,
    group: int,
    split: int,
    skip: int,
    tile: AttentionTile,
    out: Tensor,
) -> None:
    shape, alone = store.shape, bool(part.tiles.shape[0])
    sizes: dict[str, Any] = {"HEADS": shape.heads, "GROUP": group, "D": shape.dim, "BM": part.pairs}
    waiting = part.items.shape[0] * shape.heads * part.pairs
    m, l = (torch.empty(waiting, dtype=torch.float32, device=q.device) for _ in range(2))
    acc = torch.empty(waiting, shape.dim, dtype=torch.float32, device=q.device)
    described = tile.descriptor and not interpreted()
    k, v = (descriptor(x.view(-1, shape.dim), BLOCK, shape.dim) if described else x for x in (store.k, store.v))
    tk.attend[(part.items.shape[0], shape.heads)](
        part.items,
        batch.row_offsets,
        batch.starts,
        batch.block_offsets,
        batch.blocks,
        q,
        k,
        v,
        out,
        m,
        l,
        acc,
        q.stride(0),
        scale,
        **sizes,
        SPLIT=split,
        ALONE=alone,
        DESCRIPTOR=described,
        SKIP=skip,
        num_warps=tile.warps,
        num_stages=tile.stages,
        **overlap(),
        **OPTIONS,
    )
    if alone:
        columns = min(64, shape.dim)
        grid = (part.tiles.shape[0], shape.heads, shape.dim // columns)
        tk.combine[grid](part.tiles, batch.row_offsets, m, l, acc, out, **sizes, BD=columns, **overlap(), **OPTIONS)
