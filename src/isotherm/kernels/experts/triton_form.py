"""Grouped expert products on the GPU: launches of triton_kernels."""

import torch
import triton
from torch import Tensor

from isotherm.kernels.api import Experts, Groups
from isotherm.kernels.experts import triton_kernels as tk
from isotherm.kernels.experts.triton_fp8_kernels import grouped_product_of_fp8
from isotherm.kernels.gpu.launch import OPTIONS, overlap
from isotherm.kernels.linear.fp8 import Fp8Experts
from isotherm.kernels.linear.tiles import ProductTile
from isotherm.kernels.routing.triton_form import DeviceGroups
from isotherm.kernels.weight import Fp8Weight, Weight

TILES = {16: ProductTile(16, 128, 128, 4, 3), 64: ProductTile(64, 128, 64, 8, 4), 128: ProductTile(128, 256, 64, 8, 3)}
"""By pairs a tile. They change no bit."""

FEW = {**TILES, 16: ProductTile(16, 64, 128, 4, 4)}
"""Where there are few tiles, more programs pay."""

_FEW_TILES, _FEW_FP8_TILES = 384, 160

FP8_TILES = {
    16: ProductTile(16, 128, 128, 4, 3),
    64: ProductTile(64, 128, 64, 4, 3),
    128: ProductTile(128, 64, 64, 4, 3),
}
FP8_FEW = {**FP8_TILES, 16: ProductTile(16, 64, 128, 4, 3)}


def pack_experts(dtype: torch.dtype, weight: Weight, device: torch.device) -> Experts:
    """weight [E, N, K], any float dtype or FP8, row-major on the device."""
    e, n, k = weight.shape
    if isinstance(weight, Fp8Weight):
        scales, shared = weight.shared()
        return Fp8Experts(e, n, k, weight.data.to(device).contiguous(), scales.to(device), shared)
    return Experts(e, n, k, weight.to(device=device, dtype=dtype).contiguous())


def grouped_linear(
    x: Tensor, experts: Experts, groups: Groups, gather: bool, tiles: dict[int, ProductTile] | None = None
) -> Tensor:
    """x [M, K] read through groups.rows if `gather`, else [P, K] -> [P, N]. `tiles` changes no bit.

    TypeError: groups that were not made on the device (isotherm.kernels.routing.triton_form.group).
    """
    if not isinstance(groups, DeviceGroups):
        raise TypeError("groups: must be made by routing.triton_form.group")
    n, k = experts.n, experts.k
    quantized, count = isinstance(experts, Fp8Experts), groups.tiles.shape[0]
    few, many = (FP8_FEW, FP8_TILES) if quantized else (FEW, TILES)
    usual = few if count < (_FEW_FP8_TILES if quantized else _FEW_TILES) else many
    tile = (tiles or usual)[groups.height]
    grid = (count * triton.cdiv(n, tile.columns),)
    out = torch.empty(groups.rows.shape[0], n, dtype=x.dtype, device=x.device)
    how = {"BM": tile.rows, "BN": tile.columns, "BK": tile.depth, "GATHER": gather, "EVEN_K": k % tile.depth == 0}
    how |= {"num_warps": tile.warps, "num_stages": tile.stages, **overlap(), **OPTIONS}
    if isinstance(experts, Fp8Experts):
        grouped_product_of_fp8[grid](
            x,
            experts.data,
            experts.scales,
            groups.rows,
            groups.tiles,
            out,
            n,
            k,
            x.stride(0),
            SHARED=experts.shared,
            **how,
        )
    else:
        tk.grouped_product[grid](x, experts.data, groups.rows, groups.tiles, out, n, k, x.stride(0), **how)
    return out
