"""Grouped expert products on the GPU: launches of triton_kernels."""

import torch
import triton
from torch import Tensor

from isotherm.kernels.api import Experts, Groups
from isotherm.kernels.experts import triton_kernels as tk
from isotherm.kernels.gpu.launch import OPTIONS, overlap
from isotherm.kernels.linear.fp8 import Fp8Experts, checked
from isotherm.kernels.linear.tiles import ProductTile
from isotherm.kernels.routing.triton_form import DeviceGroups

TILES = {16: ProductTile(16, 64, 128, 4, 4), 64: ProductTile(64, 128, 64, 4, 4), 128: ProductTile(128, 128, 64, 8, 4)}
"""By pairs a tile. They change no bit."""


def pack_experts(dtype: torch.dtype, weight: Tensor, device: torch.device) -> Experts:
    """weight [E, N, K], any float dtype, row-major on the device."""
    e, n, k = weight.shape
    return Experts(e, n, k, weight.to(device=device, dtype=dtype).contiguous())


def pack_fp8_experts(weight: Tensor, scales: Tensor, device: torch.device) -> Fp8Experts:
    """weight [E, N, K] FP8 and scales [E, ceil(N/128), ceil(K/128)], as they are."""
    checked(weight, scales)
    e, n, k = weight.shape
    return Fp8Experts(e, n, k, weight.to(device).contiguous(), scales.to(device, torch.float32).contiguous())


def grouped_linear(
    x: Tensor, experts: Experts, groups: Groups, gather: bool, tiles: dict[int, ProductTile] = TILES
) -> Tensor:
    """x [M, K] read through groups.rows if `gather`, else [P, K] -> [P, N]. `tiles` changes no bit.

    TypeError: groups that were not made on the device (isotherm.kernels.routing.triton_form.group).
    """
    if not isinstance(groups, DeviceGroups):
        raise TypeError("groups: must be made by routing.triton_form.group")
    n, k, tile = experts.n, experts.k, tiles[groups.height]
    scales = experts.scales if isinstance(experts, Fp8Experts) else None
    out = torch.empty(groups.rows.shape[0], n, dtype=x.dtype, device=x.device)
    tk.grouped_product[(groups.tiles.shape[0] * triton.cdiv(n, tile.columns),)](
        x, experts.data, scales, groups.rows, groups.tiles, out, n, k, x.stride(0),
        BM=tile.rows, BN=tile.columns, BK=tile.depth, GATHER=gather, EVEN_K=k % tile.depth == 0, FP8=scales is not None,
        num_warps=tile.warps, num_stages=tile.stages, **overlap(), **OPTIONS,
    )  # fmt: skip
    return out
