"""The numbers of the n-gram hash, and its table, which is read row by row from where it lies on disk."""

import math
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_MASK = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15
_LAYER_STEP = 10007

_FEW = 1024
"""Rows that are read one by one: sorting them by shard takes longer."""


def multipliers(vocabulary: int, order: int, place: int, seed: int) -> tuple[int, ...]:
    """One odd multiplier for each of `order` tokens, below 2^63 / vocabulary. place: of the layer among those with a table.

    From SplitMix64 (Steele et al. 2014), as the released checkpoints' reference code draws them.
    """
    bound = max(1, ((1 << 63) - 1) // vocabulary // 2)
    base = seed + _LAYER_STEP * place
    return tuple(2 * (_splitmix(base + _GAMMA * (token + 1)) % bound) + 1 for token in range(order))


def _splitmix(value: int) -> int:
    value = (value + _GAMMA) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def primes_from(least: int, skip: int, count: int) -> tuple[int, ...]:
    """`count` primes >= least, ascending, after the first `skip`."""
    found: list[int] = []
    value = least
    while len(found) < skip + count:
        if _is_prime(value):
            found.append(value)
        value += 1
    return tuple(found[skip:])


def _is_prime(value: int) -> bool:
    if value < 4 or value % 2 == 0:
        return value in (2, 3)
    return all(value % divisor for divisor in range(3, math.isqrt(value) + 1, 2))


@dataclass(frozen=True, slots=True)
class NgramTable:
    """Rows of embeddings, in shards of equal length but the last, each as it lies in the checkpoint: mapped, not loaded."""

    shards: tuple[Tensor, ...]
    dtype: torch.dtype
    _bytes: tuple[NDArray[np.uint8], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_bytes", tuple(shard.view(torch.uint8).numpy() for shard in self.shards))

    @property
    def columns(self) -> int:
        """Of one row."""
        return self.shards[0].shape[1]

    def rows(self, places: Tensor) -> Tensor:
        """places [M, heads] int64 -> [M, heads * columns] `dtype`, the heads' rows side by side."""
        shard, row = np.divmod(places.numpy().reshape(-1), len(self.shards[0]))
        out = torch.empty(len(row), self.columns, dtype=self.shards[0].dtype)
        found = out.view(torch.uint8).numpy()
        if len(row) <= _FEW:
            for place, (index, at) in enumerate(zip(shard.tolist(), row.tolist(), strict=True)):
                found[place] = self._bytes[index][at]
        else:
            order = np.argsort(shard, kind="stable")
            for part in np.split(order, np.flatnonzero(np.diff(shard[order])) + 1):
                found[part] = np.take(self._bytes[shard[part[0]]], row[part], axis=0)
        return out.to(self.dtype).view(places.shape[0], -1)
