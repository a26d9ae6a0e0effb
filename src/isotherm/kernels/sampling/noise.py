"""Gumbel noise from a counter, in numpy: the torch form's, and the C form's reference (float64 until the end)."""

import numpy as np
from numpy.typing import NDArray

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_WORD = 0xFFFFFFFF

Words = NDArray[np.uint64]


def philox(counter: tuple[Words, Words, Words, Words], key: tuple[int, int]) -> tuple[Words, Words, Words, Words]:
    """Ten rounds of Philox4x32 on 32-bit words held in uint64 arrays."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = np.uint64(_MULTIPLIERS[0]) * c0, np.uint64(_MULTIPLIERS[1]) * c2
        high0, high1 = p0 >> np.uint64(32), p1 >> np.uint64(32)
        low0, low1 = p0 & np.uint64(_WORD), p1 & np.uint64(_WORD)
        c0, c1, c2, c3 = high1 ^ c1 ^ np.uint64(k0), low1, high0 ^ c3 ^ np.uint64(k1), low0
        k0, k1 = (k0 + _WEYL[0]) & _WORD, (k1 + _WEYL[1]) & _WORD
    return c0, c1, c2, c3


def words(ids: NDArray[np.int64], key: tuple[int, int, int]) -> Words:
    """The 32-bit word of each token id for (seed, choice, position)."""
    seed, choice, position = key
    seed &= 0xFFFFFFFFFFFFFFFF
    group = (ids >> 2).astype(np.uint64)
    where, which, zero = (np.full_like(group, word & _WORD) for word in (position, choice, 0))
    out: Words = np.stack(philox((group, where, which, zero), (seed & _WORD, seed >> 32)))
    chosen: Words = out[ids & 3, np.arange(ids.size)]
    return chosen


def gumbel(vocabulary: int, key: tuple[int, int, int]) -> NDArray[np.float32]:
    """The noise of tokens 0..vocabulary-1."""
    word = words(np.arange(vocabulary, dtype=np.int64), key)
    half = word >= 1 << 31
    below = (np.where(half, _WORD - word, word).astype(np.float64) + 0.5) / 2.0**32  # min(u, 1 - u)
    return -np.log(np.where(half, -np.log1p(-below), -np.log(below))).astype(np.float32)
