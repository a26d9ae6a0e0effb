"""Linear layers with block-FP8 weights on the GPU: launches of triton_fp8_kernels."""

import torch
import triton
from torch import Tensor

from isotherm.kernels.gpu.launch import OPTIONS, interpreted, overlap
from isotherm.kernels.linear.fp8 import Fp8Linear
from isotherm.kernels.linear.tiles import ProductTile
from isotherm.kernels.linear.triton_fp8_kernels import few_rows_of_fp8, product_of_fp8
from isotherm.kernels.weight import BLOCK, Fp8Weight

FEW = ((16, ProductTile(16, 64, 128, 4, 3)), (64, ProductTile(32, 64, 128, 4, 4)))
"""(most rows, tile). No tile changes a bit."""
NARROW = ProductTile(16, 16, 128, 4, 6)
"""For few rows and few columns: more programs."""
MANY = (ProductTile(256, 128, 64, 8, 3), ProductTile(128, 128, 64, 8, 3), ProductTile(64, 64, 64, 4, 4))
"""For more rows, the largest of which there are enough."""

_ENOUGH = 96  # tiles, on a card of 132 processors
_NARROW_TILES = 256
_WIDE = 64  # columns of a tile that wgmma takes as rows of its left operand


def pack(weight: Fp8Weight, device: torch.device) -> Fp8Linear:
    """weight [N, K], row-major on the device."""
    n, k = weight.shape
    scales, shared = weight.shared()
    return Fp8Linear(n, k, weight.data.to(device).contiguous(), scales.to(device), shared)


def tile_for(rows: int, n: int) -> ProductTile:
    """The tile for [rows, K] times [N, K]^T."""
    if triton.cdiv(rows, NARROW.rows) * triton.cdiv(n, NARROW.columns) <= _NARROW_TILES:
        return NARROW
    for most, tile in FEW:
        if rows <= most:
            return tile
    for tile in MANY[:-1]:
        if rows > tile.rows // 2 and triton.cdiv(rows, tile.rows) * triton.cdiv(n, tile.columns) >= _ENOUGH:
            return tile
    return MANY[-1]


def product(x: Tensor, weight: Fp8Linear, residual: Tensor | None, out: Tensor, tile: ProductTile) -> Tensor:
    """out [M, N] = round(residual + x W^T), by one tile."""
    rows, n, k = x.shape[0], weight.n, weight.k
    if BLOCK % tile.depth:
        raise ValueError(f"tile: steps of {tile.depth} do not divide a block of {BLOCK}")
    grid = (triton.cdiv(rows, tile.rows) * triton.cdiv(n, tile.columns),)
    kernel, hide = (product_of_fp8, {}) if tile.columns >= _WIDE else (few_rows_of_fp8, {"HIDE": not interpreted()})
    kernel[grid](
        x, weight.data, weight.scales, residual, out, rows, n, k, x.stride(0), 0 if residual is None else residual.stride(0),
        BM=tile.rows, BN=tile.columns, BK=tile.depth, GROUP=tile.group, SHARED=weight.shared, EVEN_K=k % tile.depth == 0,
        AHEAD=min(tile.stages, 4, k // tile.depth) if tile.rows == 16 and tile.depth == BLOCK else 0,
        HAS_RESIDUAL=residual is not None, num_warps=tile.warps, num_stages=tile.stages, **hide, **overlap(), **OPTIONS,
    )  # fmt: skip
    return out
