"""The gated delta rule on the GPU: launches of triton_rows, triton_chunks, triton_lanes and triton_lone."""

from dataclasses import dataclass

import torch
import triton
from torch import Tensor

from isotherm.core.constants import BLOCK
from isotherm.kernels.batch import Batch
from isotherm.kernels.gated_delta import triton_chunks, triton_lanes, triton_lone
from isotherm.kernels.gated_delta.plan import DeltaPlan, plan_delta
from isotherm.kernels.gated_delta.reference import EPSILON
from isotherm.kernels.gated_delta.triton_pack import PackedRows, RawRows, padded
from isotherm.kernels.gated_delta.triton_state import delta_state
from isotherm.kernels.gpu.batch import on_device
from isotherm.kernels.gpu.launch import OPTIONS, overlap
from isotherm.kernels.state import DeltaState

__all__ = ["DeltaTile", "delta_state", "gated_delta"]

_HALF = BLOCK // 2

PACKED_ALONE = 32
"""Segments up to which rows that go alone are prepared where they are used: each head's program reads all heads for it."""


@dataclass(frozen=True, slots=True)
class DeltaTile:
    """What may follow the card and not the bits: columns of v a program, warps, stages, for chunks, for lone rows
    and for folds."""

    chunk_columns: int = 32
    chunk_warps: int = 4
    chunk_stages: int = 3
    row_columns: int = 64
    row_warps: int = 2
    fold_columns: int = 64
    fold_warps: int = 4


def gated_delta(
    batch: Batch,
    qkv: Tensor,
    b: Tensor,
    a: Tensor,
    decay: Tensor,
    dt_bias: Tensor,
    state: DeltaState,
    tile: DeltaTile = DeltaTile(),
) -> Tensor:
    """See isotherm.kernels.api.Kernels.gated_delta. `tile` changes no bit."""
    shape = state.shape
    on = on_device(batch, qkv.device)
    plan = on.plan("gated_delta", plan_delta)
    size = (qkv.shape[0], shape.value_heads * shape.value_dim)
    out = (torch.zeros if on.idle else torch.empty)(size, dtype=qkv.dtype, device=qkv.device)
    raw = RawRows(qkv, b, a, decay, dt_bias)
    rows = PackedRows.empty(plan, raw, shape)
    apart = bool(plan.tiles.shape[0]) or plan.lone.shape[0] > PACKED_ALONE
    if apart:
        rows.pack(plan, raw, state)
    if plan.tiles.shape[0]:
        _chunks(plan, rows, qkv, state, out, tile)
    if plan.lone.shape[0]:
        _lone(plan, rows, raw, state, out, tile, pack=not apart)
    return out


def _chunks(plan: DeltaPlan, rows: PackedRows, qkv: Tensor, state: DeltaState, out: Tensor, tile: DeltaTile) -> None:
    shape, tiles = state.shape, plan.tiles.shape[0]
    heads = {"HK": shape.key_heads, "HV": shape.value_heads}
    sums = rows.g.new_empty(tiles, shape.value_heads, BLOCK)
    scratch = rows.g.new_empty(tiles, shape.value_heads, 2, _HALF, _HALF)
    lower, mixed = (qkv.new_empty(tiles, shape.value_heads, BLOCK, BLOCK) for _ in range(2))
    triton_chunks.sum_gates[(tiles,)](
        plan.tiles,
        rows.g,
        state.rows["G"],
        sums,
        HV=shape.value_heads,
        BH=padded(shape)["BH"],
        num_warps=1,
        **OPTIONS,
    )
    triton_chunks.chunk_rows[(tiles, shape.key_heads)](
        rows.q,
        rows.k,
        rows.beta,
        sums,
        scratch,
        lower,
        mixed,
        **heads,
        DK=shape.key_dim,
        GROUP=shape.value_heads // shape.key_heads,
        num_warps=4,
        **OPTIONS,
    )
    halves = (tiles * shape.value_heads * 2,)
    triton_chunks.invert_halves[halves](
        plan.tiles, scratch, lower, state.rows["D"], HV=shape.value_heads, num_warps=1, **OPTIONS
    )
    columns = min(tile.chunk_columns, shape.value_dim)
    triton_chunks.chunk_states[(plan.spans.shape[0] * shape.value_heads, shape.value_dim // columns)](
        plan.spans,
        plan.tiles,
        qkv,
        rows.q,
        rows.k,
        rows.beta,
        sums,
        lower,
        mixed,
        state.state,
        state.rows["h"],
        state.rows["v"],
        state.rows["x"],
        state.rows["u"],
        out,
        qkv.stride(0),
        **heads,
        DK=shape.key_dim,
        DV=shape.value_dim,
        BV=columns,
        STAGES=tile.chunk_stages,
        num_warps=tile.chunk_warps,
        **OPTIONS,
    )
    if plan.opened.shape[0]:
        _keep(plan, rows, sums, qkv, state)


def _keep(plan: DeltaPlan, rows: PackedRows, sums: Tensor, qkv: Tensor, state: DeltaState) -> None:
    shape = state.shape
    triton_lanes.keep_rows[(plan.opened.shape[0], BLOCK)](
        plan.opened,
        plan.tiles,
        qkv,
        rows.k,
        rows.beta,
        sums,
        *(state.rows[name] for name in ("k", "v", "beta", "G")),
        qkv.stride(0),
        HK=shape.key_heads,
        HV=shape.value_heads,
        DK=shape.key_dim,
        DV=shape.value_dim,
        **padded(shape),
        num_warps=4,
        **OPTIONS,
    )


def _lone(
    plan: DeltaPlan, rows: PackedRows, raw: RawRows, state: DeltaState, out: Tensor, tile: DeltaTile, pack: bool
) -> None:
    """pack: `rows` are empty, and are filled on the way."""
    qkv, shape, segments, places = raw.qkv, state.shape, plan.lone.shape[0], plan.sources.shape[0]
    heads = {"HK": shape.key_heads, "HV": shape.value_heads}
    scratch = rows.g.new_empty(places, shape.value_heads, _HALF)
    off, diagonal = (qkv.new_empty(places, shape.value_heads, _HALF) for _ in range(2))
    mixed = qkv.new_empty(places, shape.value_heads, BLOCK)
    group = shape.value_heads // shape.key_heads
    triton_lone.lone_rows[(segments, shape.key_heads)](
        plan.lone,
        plan.lone_rows,
        *raw.tensors,
        rows.q,
        rows.k,
        rows.beta,
        rows.g,
        scratch,
        off,
        diagonal,
        mixed,
        *(state.rows[name] for name in ("k", "v", "beta", "G", "D")),
        *raw.strides,
        shape.key_dim**-0.5,
        **heads,
        DK=shape.key_dim,
        DV=shape.value_dim,
        **padded(shape),
        EPSILON=EPSILON,
        PACK=pack,
        GROUP=group,
        LANES=_HALF * triton.next_power_of_2(group),
        num_warps=4,
        num_stages=1,
        **overlap(),
        **OPTIONS,
    )
    columns = min(tile.row_columns, shape.value_dim)
    triton_lone.lone_states[(segments * shape.value_heads, shape.value_dim // columns)](
        plan.lone,
        plan.lone_rows,
        qkv,
        rows.q,
        rows.k,
        rows.beta,
        off,
        diagonal,
        mixed,
        state.state,
        state.rows["h"],
        state.rows["G"],
        state.rows["x"],
        state.rows["u"],
        out,
        qkv.stride(0),
        **heads,
        DK=shape.key_dim,
        DV=shape.value_dim,
        BV=columns,
        num_warps=tile.row_warps,
        num_stages=1,
        **overlap(),
        **OPTIONS,
    )
    if plan.folds.shape[0]:
        columns = min(tile.fold_columns, shape.value_dim)
        triton_lanes.fold_lanes[(plan.folds.shape[0] * shape.value_heads, shape.value_dim // columns)](
            plan.folds,
            state.state,
            *(state.rows[name] for name in ("k", "u", "G")),
            **heads,
            DK=shape.key_dim,
            DV=shape.value_dim,
            BV=columns,
            num_warps=tile.fold_warps,
            **overlap(),
            **OPTIONS,
        )
