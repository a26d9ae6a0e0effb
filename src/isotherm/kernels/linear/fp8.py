"""Weights in FP8 (e4m3) with one float32 scale for each block of 128 x 128, as released checkpoints hold them.

Rounding point: a weight is bfloat16(float32(q * scale)), q its FP8 value. Every form is to multiply by that value, so that a
product is, to the bit, the one of a bfloat16 weight that was made by `dequantized` at load. On an H200 it is not yet so in tiles
of 16 rows (docs/gpu.md), and no checkpoint is loaded in this form.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from isotherm.kernels.api import Experts, Linear

BLOCK = 128
FP8 = torch.float8_e4m3fn


@dataclass(frozen=True, slots=True)
class Fp8Linear(Linear):
    """data [N, K] FP8, row-major; scales [ceil(N/128), ceil(K/128)] float32."""

    scales: Tensor


@dataclass(frozen=True, slots=True)
class Fp8Experts(Experts):
    """data [E, N, K] FP8, row-major; scales [E, ceil(N/128), ceil(K/128)] float32."""

    scales: Tensor


def dequantized(weight: Tensor, scales: Tensor) -> Tensor:
    """weight [..., N, K] FP8, scales [..., ceil(N/128), ceil(K/128)] -> [..., N, K] bfloat16."""
    n, k = weight.shape[-2:]
    wide = scales.float().repeat_interleave(BLOCK, -2)[..., :n, :].repeat_interleave(BLOCK, -1)[..., :k]
    return (weight.float() * wide).bfloat16()


def checked(weight: Tensor, scales: Tensor) -> None:
    """ValueError where these are not a weight and its scales."""
    n, k = weight.shape[-2:]
    expected = (*weight.shape[:-2], -(-n // BLOCK), -(-k // BLOCK))
    if weight.dtype != FP8 or tuple(scales.shape) != expected:
        raise ValueError(
            f"weight: expected {FP8} and scales {list(expected)}, got {weight.dtype} and {list(scales.shape)}"
        )
