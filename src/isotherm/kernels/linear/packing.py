"""The layout in which C reads weights: panels of 64 rows, k by k (float32) or pair by pair (bfloat16)."""

import torch
from torch import Tensor

from isotherm.kernels.native.memory import large_pages
from isotherm.kernels.weight import BLOCK, Fp8Weight

PANEL = 64


def pack(weight: Tensor, dtype: torch.dtype) -> Tensor:
    """weight [..., N, K] rounded to `dtype` -> [..., ceil(N/64), ceil(K/p), 64, p], p = 2 for bfloat16 and 1 for float32; zeros
    beyond N and K."""
    return _panels(weight, dtype, 2 if dtype == torch.bfloat16 else 1)


def pack_fp8(weight: Fp8Weight, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """For activations of `dtype`: the values as `pack` lays them out, one byte each, and the scales of each panel's rows,
    [..., ceil(N/64), ceil(K/128), 64] float32; zeros beyond N and K."""
    *outer, n, k = weight.shape
    data = _panels(weight.data.view(torch.uint8), torch.uint8, 2 if dtype == torch.bfloat16 else 1)
    panels, blocks = -(-n // PANEL), -(-k // BLOCK)
    scales = torch.where(weight.scales.isnan(), torch.nan, weight.scales)  # one NaN, which rounding in C keeps
    scales = _padded(scales, panels * PANEL, blocks).view(*outer, panels, PANEL, blocks)
    return data, scales.transpose(-2, -1).contiguous()


def _panels(weight: Tensor, dtype: torch.dtype, pair: int) -> Tensor:
    *outer, n, k = weight.shape
    panels, steps = -(-n // PANEL), -(-k // pair)
    packed = large_pages(*outer, panels, steps, PANEL, pair, dtype=dtype)
    rows = weight if n == panels * PANEL and k == steps * pair else _padded(weight, panels * PANEL, steps * pair)
    packed.copy_(rows.view(*outer, panels, PANEL, steps, pair).transpose(-3, -2))
    return packed


def _padded(weight: Tensor, n: int, k: int) -> Tensor:
    padded = weight.new_zeros(*weight.shape[:-2], n, k)
    padded[..., : weight.shape[-2], : weight.shape[-1]] = weight
    return padded
