"""Linear layers on the GPU: which tile multiplies which shape, and the launches of triton_kernels."""

import torch
import triton
from torch import Tensor

from isotherm.kernels.api import Linear
from isotherm.kernels.gpu.launch import OPTIONS, descriptor, interpreted, overlap
from isotherm.kernels.linear import triton_kernels as tk
from isotherm.kernels.linear.fp8 import BLOCK, Fp8Linear, checked
from isotherm.kernels.linear.tiles import ProductTile, TileTable


def pack(dtype: torch.dtype, weight: Tensor, device: torch.device) -> Linear:
    """weight [N, K], any float dtype, row-major on the device."""
    n, k = weight.shape
    return Linear(n, k, weight.to(device=device, dtype=dtype).contiguous())


def pack_fp8(weight: Tensor, scales: Tensor, device: torch.device) -> Fp8Linear:
    """weight [N, K] FP8 and scales [ceil(N/128), ceil(K/128)], as they are: products dequantise within the tile."""
    checked(weight, scales)
    n, k = weight.shape
    return Fp8Linear(n, k, weight.to(device).contiguous(), scales.to(device, torch.float32).contiguous())


def linear(table: TileTable, x: Tensor, weight: Linear, residual: Tensor | None = None) -> Tensor:
    """x [M, K] -> round(residual + x W^T) [M, N]."""
    out = torch.empty(x.shape[0], weight.n, dtype=x.dtype, device=x.device)
    return product(x, weight, residual, out, _tile(table, x.shape[0], weight))


def logits(x: Tensor, weight: Linear) -> Tensor:
    """x [M, K] -> x W^T [M, N] float32.

    By untuned tiles: float32 results pass through shared memory too, and tuned ones leave no room for them.
    """
    out = torch.empty(x.shape[0], weight.n, dtype=torch.float32, device=x.device)
    return product(x, weight, None, out, TileTable({}, {}).tile(x.shape[0], weight.n, weight.k))


def embed(tokens: Tensor, table: Linear) -> Tensor:
    """tokens [M] int32 -> [M, K]."""
    rows, columns = tokens.shape[0], min(1024, triton.next_power_of_2(table.k))
    out = torch.empty(rows, table.k, dtype=table.data.dtype, device=tokens.device)
    tk.rows_of_table[(rows, triton.cdiv(table.k, columns))](tokens, table.data, out, table.k, BK=columns, **OPTIONS)
    return out


def product(x: Tensor, weight: Linear, residual: Tensor | None, out: Tensor, tile: ProductTile) -> Tensor:
    """out [M, N] = round(residual + x W^T), by one tile."""
    rows, n, k = x.shape[0], weight.n, weight.k
    stride = 0 if residual is None else residual.stride(0)
    scales = weight.scales if isinstance(weight, Fp8Linear) else None
    if scales is not None and BLOCK % tile.depth:
        raise ValueError(f"tile: steps of {tile.depth} do not divide a block of {BLOCK}")
    sizes = {"BM": tile.rows, "BN": tile.columns, "BK": tile.depth, "GROUP": tile.group}
    other = {"HAS_RESIDUAL": residual is not None, "num_warps": tile.warps, "num_stages": tile.stages}
    if (
        tile.described
        and scales is None
        and not interpreted()
        and k % tile.depth == 0
        and _describable(x)
        and _describable(weight.data)
    ):
        processors = torch.cuda.get_device_properties(x.device).multi_processor_count
        tiles = triton.cdiv(rows, tile.rows) * triton.cdiv(n, tile.columns + tile.more)
        b_x, b_w = descriptor(x, tile.rows, tile.depth), descriptor(weight.data, tile.columns, tile.depth)
        b_more = descriptor(weight.data, tile.more, tile.depth) if tile.more else b_w
        tk.product_by_descriptor[(min(tiles, processors * tile.programs),)](
            b_x,
            b_w,
            b_more,
            residual,
            out,
            rows,
            n,
            k,
            stride,
            **sizes,
            **other,
            MORE=tile.more,
            **overlap(),
            **OPTIONS,
        )
        return out
    tk.product_by_pointer[(triton.cdiv(rows, tile.rows) * triton.cdiv(n, tile.columns),)](
        x,
        weight.data,
        scales,
        residual,
        out,
        rows,
        n,
        k,
        x.stride(0),
        stride,
        **sizes,
        **other,
        EVEN_K=k % tile.depth == 0,
        AHEAD=min(tile.stages, k // tile.depth) if tile.rows == 16 and (scales is None or tile.depth == BLOCK) else 0,
        FP8=scales is not None,
        **overlap(),
        **OPTIONS,
    )
    return out


def _tile(table: TileTable, rows: int, weight: Linear) -> ProductTile:
    """Tables are tuned for 16-bit weights."""
    return (TileTable({}, {}) if isinstance(weight, Fp8Linear) else table).tile(rows, weight.n, weight.k)


def _describable(x: Tensor) -> bool:
    return x.data_ptr() % 16 == 0 and x.stride(0) * x.element_size() % 16 == 0
