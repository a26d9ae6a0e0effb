"""A 64-bit hash of a row's bytes.

The row is read as little-endian 32-bit words w_0, w_1, ... (zero bytes are added to fill the last), and

    h = mix(n + sum_i w_i a_i  mod 2^64),    n the row's length in bytes, a_i odd and fixed

(multilinear hashing: Carter and Wegman 1979; Lemire and Kaser 2014, arXiv:1202.4961). A single changed word moves the sum by
d a_i with 0 < |d| < 2^32, which is never 0 mod 2^64 because a_i is odd: a flipped bit always changes the hash. Each place has its
own a_i, so order counts. `mix` is one-to-one. Integer sums have no order, so the hash does not depend on how it was computed.
"""

import numpy as np
from numpy.typing import NDArray

HASH = "multilinear64-1"
"""The name of the function; a file made with another cannot be compared."""

_GOLDEN, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


class RowHash:
    """Owns the table of a_i, which grows to the longest row seen."""

    def __init__(self) -> None:
        self._factors = np.zeros(0, np.uint64)

    def __call__(self, rows: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """rows [M, n] of bytes, unit column stride -> [M]."""
        count, width = rows.shape
        if width % 4:
            rows = np.pad(rows, ((0, 0), (0, -width % 4)))
        words = rows.view("<u4")
        if words.shape[1] > len(self._factors):
            self._factors = factors(words.shape[1])
        used = self._factors[: words.shape[1]]
        sums = (
            np.einsum("ij,j->i", words, used, dtype=np.uint64, casting="unsafe")
            if width
            else np.zeros(count, np.uint64)
        )
        return mix(sums + np.uint64(width))


def factors(count: int) -> NDArray[np.uint64]:
    """a_0 .. a_(count-1): splitmix64's sequence (Steele et al. 2014) made odd."""
    steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
    return mix(steps) | np.uint64(1)


def mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """splitmix64's finaliser, a permutation of 64-bit numbers."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(_MIX_1)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(_MIX_2)
    return x ^ (x >> np.uint64(31))
