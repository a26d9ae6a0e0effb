"""Linear layers on the GPU: which tile multiplies which shape, and the launches of triton_kernels."""

import torch
import triton
from torch import Tensor

from isotherm.kernels.api import Linear
from isotherm.kernels.gpu.launch import OPTIONS, descriptor, interpreted, overlap
from isotherm.kernels.linear import triton_fp8_form as fp8_form
from isotherm.kernels.linear import triton_kernels as tk
from isotherm.kernels.linear.fp8 import Fp8Linear
from isotherm.kernels.linear.tiles import ProductTile, TileTable
from isotherm.kernels.weight import Fp8Weight, Weight


def pack(dtype: torch.dtype, weight: Weight, device: torch.device) -> Linear:
    """weight [N, K], any float dtype or FP8, row-major on the device."""
    n, k = weight.shape
    if isinstance(weight, Fp8Weight):
        return fp8_form.pack(weight, device)
    return Linear(n, k, weight.to(device=device, dtype=dtype).contiguous())


def linear(table: TileTable, x: Tensor, weight: Linear, residual: Tensor | None = None) -> Tensor:
    """x [M, K] -> round(residual + x W^T) [M, N]."""
    out = torch.empty(x.shape[0], weight.n, dtype=x.dtype, device=x.device)
    if isinstance(weight, Fp8Linear):
        return fp8_form.product(x, weight, residual, out, fp8_form.tile_for(x.shape[0], weight.n))
    return product(x, weight, residual, out, table.tile(x.shape[0], weight.n, weight.k))


def logits(x: Tensor, weight: Linear) -> Tensor:
    """x [M, K] -> x W^T [M, N] float32.

    By untuned tiles: float32 results pass through shared memory too, and tuned ones leave no room for them.
    """
    out = torch.empty(x.shape[0], weight.n, dtype=torch.float32, device=x.device)
    if isinstance(weight, Fp8Linear):
        return fp8_form.product(x, weight, None, out, fp8_form.tile_for(x.shape[0], weight.n))
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
    sizes = {"BM": tile.rows, "BN": tile.columns, "BK": tile.depth, "GROUP": tile.group}
    other = {"HAS_RESIDUAL": residual is not None, "num_warps": tile.warps, "num_stages": tile.stages}
    if tile.described and not interpreted() and k % tile.depth == 0 and _describable(x) and _describable(weight.data):
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
        AHEAD=min(tile.stages, k // tile.depth) if tile.rows == 16 else 0,
        **overlap(),
        **OPTIONS,
    )
    return out


def _describable(x: Tensor) -> bool:
    return x.data_ptr() % 16 == 0 and x.stride(0) * x.element_size() % 16 == 0
