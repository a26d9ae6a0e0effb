"""The hash is a function of the bytes, and of their order."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from isotherm.trace.hashing import RowHash, factors

ROWS = arrays.arrays(np.uint8, st.tuples(st.integers(1, 5), st.integers(1, 67)))


def hashed(rows: np.ndarray) -> list[int]:
    return RowHash()(rows).tolist()


@settings(deadline=None)
@given(ROWS)
def test_equal_bytes_have_equal_hashes_alone_and_among_others(rows) -> None:
    assert hashed(rows) == [hashed(row[None].copy())[0] for row in rows]


@settings(deadline=None)
@given(ROWS, st.data())
def test_any_flipped_bit_changes_the_hash(rows, data) -> None:
    row = data.draw(st.integers(0, rows.shape[0] - 1))
    byte = data.draw(st.integers(0, rows.shape[1] - 1))
    other = rows.copy()
    other[row, byte] ^= 1 << data.draw(st.integers(0, 7))
    before, after = hashed(rows), hashed(other)
    assert before[row] != after[row]
    assert before[:row] + before[row + 1 :] == after[:row] + after[row + 1 :]


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**16 - 1), min_size=2, max_size=64), st.randoms())
def test_a_permutation_of_the_elements_has_another_hash(values, rng) -> None:
    mixed = list(values)
    rng.shuffle(mixed)
    first, second = (np.array([row], np.uint16).view(np.uint8) for row in (values, mixed))
    assert (hashed(first) == hashed(second)) == (values == mixed)


def test_signs_of_two_elements_flipped_together_show() -> None:
    rows = np.random.default_rng(0).standard_normal((1, 64)).astype(np.float32)
    signs = rows.copy()
    signs[0, [3, 17]] *= -1
    assert hashed(rows.view(np.uint8)) != hashed(signs.view(np.uint8))


def test_zero_bytes_at_the_end_count() -> None:
    assert len({hashed(np.zeros((1, n), np.uint8))[0] for n in range(64)}) == 64


def test_the_function_is_fixed() -> None:
    """Files of one version can be compared: these numbers are part of the format."""
    rows = np.arange(24, dtype=np.uint8).reshape(2, 12)
    words = rows.view("<u4").astype(object)
    table = [int(x) for x in factors(3)]
    sums = [(sum(int(w) * a for w, a in zip(row, table, strict=True)) + 12) % 2**64 for row in words]
    assert hashed(rows) == [splitmix(x) for x in sums]
    assert table == [splitmix(0x9E3779B97F4A7C15 * i % 2**64) | 1 for i in (1, 2, 3)]


def splitmix(x: int) -> int:
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)
