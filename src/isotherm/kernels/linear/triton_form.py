"""Linear layers on the GPU: which tile multiplies which shape, and the launches of triton_kernels."""

from dataclasses import dataclass

import torch
import triton
from torch import Tensor

from isotherm.kernels.api import Linear
from isotherm.kernels.gpu.launch import OPTIONS, descriptor, interpreted, overlap
from isotherm.kernels.linear import triton_kernels as tk


@dataclass(frozen=True, slots=True)
class ProductTile:
    """A [rows, columns] tile over steps of `depth`. It changes no bit.

    described: operands come by tensor descriptor, in a persistent grid; else by pointer, a program a tile. group: row tiles that
    share their columns one after the other.
    """

    rows: int
    columns: int
    depth: int
    warps: int
    stages: int
    described: bool = False
    group: int = 8

    @property
    def shared_memory(self) -> int:
        """Bytes of the operands in flight."""
        return (self.rows + self.columns) * self.depth * 2 * self.stages


def pack(dtype: torch.dtype, weight: Tensor, device: torch.device) -> Linear:
    """weight [N, K], any float dtype, row-major on the device."""
    n, k = weight.shape
    return Linear(n, k, weight.to(device=device, dtype=dtype).contiguous())


def product(x: Tensor, weight: Linear, residual: Tensor | None, out: Tensor, tile: ProductTile) -> Tensor:
    """out [M, N] = round(residual + x W^T), by one tile."""
    rows, n, k = x.shape[0], weight.n, weight.k
    stride = 0 if residual is None else residual.stride(0)
    sizes = {"BM": tile.rows, "BN": tile.columns, "BK": tile.depth, "GROUP": tile.group}
    other = {"HAS_RESIDUAL": residual is not None, "num_warps": tile.warps, "num_stages": tile.stages}
    tiles = triton.cdiv(rows, tile.rows) * triton.cdiv(n, tile.columns)
    if tile.described and not interpreted() and k % tile.depth == 0 and _describable(x) and _describable(weight.data):
        programs = min(tiles, torch.cuda.get_device_properties(x.device).multi_processor_count)
        b_x, b_w = descriptor(x, tile.rows, tile.depth), descriptor(weight.data, tile.columns, tile.depth)
        tk.product_by_descriptor[(programs,)](
            b_x, b_w, residual, out, rows, n, k, stride, **sizes, **other, **overlap(), **OPTIONS
        )
        return out
    tk.product_by_pointer[(tiles,)](
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
        **overlap(),
        **OPTIONS,
    )
    return out


def _describable(x: Tensor) -> bool:
    return x.data_ptr() % 16 == 0 and x.stride(0) * x.element_size() % 16 == 0
