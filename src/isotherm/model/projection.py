"""Weights that read the same rows, packed into one where they are stored alike: `in_proj_ba` often is not, beside FP8."""

from collections.abc import Sequence
from itertools import groupby

import torch
from torch import Tensor

from isotherm.kernels.api import Kernels, Linear
from isotherm.kernels.weight import Fp8Weight, Weight, concatenated

Projection = tuple[Linear, ...]
"""Each [N, K] with the same K: columns of the result side by side."""


def load_projection(kernels: Kernels, weights: Sequence[Weight]) -> Projection:
    """weights [N, K] in the order of the result's columns; those beside each other that are stored alike become one."""
    alike = groupby(weights, lambda weight: isinstance(weight, Fp8Weight))
    return tuple(kernels.pack(concatenated(list(group))) for _, group in alike)


def project(kernels: Kernels, x: Tensor, weights: Projection, sizes: Sequence[int]) -> list[Tensor]:
    """x [M, K] -> [M, size] for each of `sizes`, columns of the result; none lies across two weights."""
    left, parts = list(sizes), list[Tensor]()
    for weight in weights:
        own = list[int]()
        while sum(own) < weight.n:
            own.append(left.pop(0))
        parts.extend(torch.split(kernels.linear(x, weight), own, dim=1))
    return parts
