"""Packed weights in FP8, as isotherm.kernels.weight has them."""

from dataclasses import dataclass

from torch import Tensor

from isotherm.kernels.api import Experts, Linear


@dataclass(frozen=True, slots=True)
class Fp8Linear(Linear):
    """data FP8 and scales float32 in the provider's own packing; shared: rows that have a scale in common, on the GPU."""

    scales: Tensor
    shared: int = 1


@dataclass(frozen=True, slots=True)
class Fp8Experts(Experts):
    """As Fp8Linear, E of them."""

    scales: Tensor
    shared: int = 1
