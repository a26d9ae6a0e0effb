"""Routing on the GPU: launches of triton_kernels. Sizes follow the numbers of rows and experts alone, so that no launch waits."""

from dataclasses import dataclass

import torch
import triton
from torch import Tensor

from isotherm.kernels.api import Groups, Routing
from isotherm.kernels.gpu.launch import OPTIONS, aligned, overlap, units
from isotherm.kernels.routing import triton_kernels as tk

_FEW_PAIRS = 640
"""Up to these each pair is compared with all, in one launch; tables then have one entry a pair."""


def _chunk(pairs: int) -> int:
    """Pairs a program, of more: no part of the result."""
    return 128 if pairs <= 1 << 14 else 256


@dataclass(frozen=True, slots=True)
class DeviceGroups(Groups):
    """Groups with the tiles that grouped products walk.

    tiles: [T, 4] int32 expert, first pair, end pair, unused, of at most `height` pairs of one expert, pairs ascending. T is at
    least as many as there could be; the others have expert -1.
    """

    tiles: Tensor
    height: int


def route(logits: Tensor, k: int, renormalize: bool) -> Routing:
    """logits [M, E] float32 -> ids [M, k] int32 ascending, weights [M, k] float32."""
    logits = aligned(logits)
    rows, e = logits.shape
    if not 1 <= k <= e:
        raise ValueError(f"k: must be between 1 and {e} experts, got {k}")
    experts = torch.empty(rows, k, dtype=torch.int32, device=logits.device)
    weights = torch.empty(rows, k, dtype=torch.float32, device=logits.device)
    tk.route[(rows,)](
        logits, experts, weights, units(logits), E=e, K=k, BE=triton.next_power_of_2(e), RENORMALIZE=renormalize,
        num_warps=1, **overlap(), **OPTIONS,
    )  # fmt: skip
    return Routing(experts, weights)


def group(experts: Tensor, count: int, chunk: int = 0) -> DeviceGroups:
    """experts [M, k] int32, each below `count` -> the M*k pairs sorted by expert, rows ascending within one.

    chunk: pairs a program; 0 for what suits their number. It changes nothing.
    """
    rows, k = experts.shape
    pairs = rows * k
    height = tile_height(pairs, count)
    if pairs <= _FEW_PAIRS and not chunk:
        return _few(experts, count, height)
    chunk = chunk or _chunk(pairs)
    chunks, tiles = triton.cdiv(pairs, chunk), min(pairs, pairs // height + count)
    counts, offsets, starts, table, own, places = _ints(
        experts.device, (chunks, count), (count + 1,), (count,), (tiles, 4), (pairs,), (rows, k)
    )
    tk.count_pairs[(chunks,)](experts, counts, pairs, count, BP=chunk, BE=16, **overlap(), **OPTIONS)
    tk.place_chunks[(1,)](
        counts, offsets, starts, table, chunks, tiles, count,
        BC=16, BE=triton.next_power_of_2(count), BT=256, BM=height, num_warps=8, **overlap(), **OPTIONS,
    )  # fmt: skip
    tk.place_pairs[(chunks,)](
        experts, counts, offsets, starts, own, places, table, pairs, count,
        K=k, BP=chunk, BJ=16, BM=height, num_warps=chunk // 64 if chunk < 1024 else 8, **overlap(), **OPTIONS,
    )  # fmt: skip
    return DeviceGroups(own, offsets, places, table, height)


def _few(experts: Tensor, count: int, height: int) -> DeviceGroups:
    rows, k = experts.shape
    pairs = rows * k
    offsets, table, own, places = _ints(experts.device, (count + 1,), (pairs, 4), (pairs,), (rows, k))
    programs = max(triton.cdiv(pairs, 16), triton.cdiv(count + 1, 64))
    tk.place_few[(programs,)](
        experts, offsets, own, places, table, pairs, count,
        K=k, BP=16, BJ=64, BM=height, BE=64, num_warps=4, **overlap(), **OPTIONS,
    )  # fmt: skip
    return DeviceGroups(own, offsets, places, table, height)


def _ints(device: torch.device, *shapes: tuple[int, ...]) -> list[Tensor]:
    return [torch.empty(shape, dtype=torch.int32, device=device) for shape in shapes]


def tile_height(pairs: int, experts: int) -> int:
    """Pairs a tile, by how many an expert has on average: no part of the bits."""
    return 16 if pairs <= 12 * experts else 64 if pairs <= 96 * experts else 128


def combine(
    pairs: Tensor,
    routing: Routing,
    groups: Groups,
    shared: Tensor | None,
    shared_gate: Tensor | None,
    residual: Tensor,
) -> Tensor:
    """pairs [P, N], shared and residual [M, N], shared_gate [M, 1] -> [M, N]."""
    rows, n = residual.shape
    out = torch.empty(rows, n, dtype=residual.dtype, device=residual.device)
    columns = min(1024, triton.next_power_of_2(n))
    tk.combine[(rows, triton.cdiv(n, columns))](
        pairs, routing.weights, groups.places, shared, shared_gate, residual, out,
        0 if shared is None else shared.stride(0), 0 if shared_gate is None else shared_gate.stride(0), residual.stride(0), n,
        K=routing.experts.shape[1], BN=columns, SHARED=shared is not None, GATED=shared_gate is not None, **overlap(), **OPTIONS,
    )  # fmt: skip
    return out
