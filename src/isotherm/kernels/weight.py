"""Weights as checkpoints hold them: any float type, or FP8 (e4m3) with a float32 scale for each block of 128 x 128.

Rounding point: a weight is bfloat16(float32(q * scale)), q its FP8 value, whatever the activations' type. Every provider
multiplies by that value, so a product is, to the bit, the one of a weight that was made by `dequantized` at load. Weights stay in
FP8 and are dequantised where a tile reads them. A scale that is subnormal counts as zero, as it does in C.

Rows of several weights are packed into one, some of them in another order, so a row's block is not its place divided by 128:
every row carries its own scales, and packings share one among as many rows as are alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

BLOCK = 128
FP8 = torch.float8_e4m3fn


@dataclass(frozen=True, slots=True)
class Fp8Weight:
    """data [..., N, K] FP8; scales [..., N, ceil(K/128)] float32, of each row."""

    data: Tensor
    scales: Tensor

    @classmethod
    def of_blocks(cls, data: Tensor, scales: Tensor) -> Self:
        """scales [..., ceil(N/128), ceil(K/128)], any float type. ValueError where these are not a weight and its scales."""
        n, k = data.shape[-2:]
        expected = (*data.shape[:-2], -(-n // BLOCK), -(-k // BLOCK))
        if data.dtype != FP8 or tuple(scales.shape) != expected:
            raise ValueError(
                f"weight: expected {FP8} and scales {list(expected)}, got {data.dtype} and {list(scales.shape)}"
            )
        scales = scales.float()
        normal = torch.where(scales.abs() < torch.finfo(torch.float32).tiny, 0.0, scales)
        return cls(data, normal.repeat_interleave(BLOCK, -2)[..., :n, :])

    @property
    def shape(self) -> torch.Size:
        """[..., N, K]."""
        return self.data.shape

    def rows(self, index: Tensor) -> "Fp8Weight":
        """Rows `index` of a weight [N, K], in that order."""
        return Fp8Weight(self.data.view(torch.uint8)[index].view(FP8), self.scales[index])

    def dequantized(self) -> Tensor:
        """The weight that it stands for, [..., N, K] bfloat16."""
        k = self.data.shape[-1]
        return (self.data.float() * self.scales.repeat_interleave(BLOCK, -1)[..., :k]).bfloat16()

    def shared(self) -> tuple[Tensor, int]:
        """scales [..., ceil(N/s), ceil(K/128)] and s, the most rows (a power of two up to 128) that share theirs."""
        n, share = self.scales.shape[-2], BLOCK
        while share > 1:
            first = self.scales[..., ::share, :]
            if torch.equal(first.repeat_interleave(share, -2)[..., :n, :], self.scales):
                break
            share //= 2
        return self.scales[..., ::share, :].contiguous(), share


Weight = Tensor | Fp8Weight


def dequantized(weight: Weight) -> Tensor:
    """The weight that it stands for."""
    return weight.dequantized() if isinstance(weight, Fp8Weight) else weight


def rows(weight: Weight, index: Tensor) -> Weight:
    """Rows `index` of a weight [N, K]."""
    return weight.rows(index) if isinstance(weight, Fp8Weight) else weight[index]


def concatenated(weights: Sequence[Weight]) -> Weight:
    """[N, K] each, one below the other; in FP8 where all are, which changes no bit."""
    return _joined(weights, torch.cat)


def stacked(weights: Sequence[Weight]) -> Weight:
    """[N, K] each -> [E, N, K]; in FP8 where all are."""
    return _joined(weights, torch.stack)


def _joined(weights: Sequence[Weight], join: Callable[[list[Tensor]], Tensor]) -> Weight:
    quantized = [weight for weight in weights if isinstance(weight, Fp8Weight)]
    if len(quantized) < len(weights):
        return join([dequantized(weight) for weight in weights])
    data = join([weight.data.view(torch.uint8) for weight in quantized]).view(FP8)
    return Fp8Weight(data, join([weight.scales for weight in quantized]))
