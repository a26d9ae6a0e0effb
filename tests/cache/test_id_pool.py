"""Ids, their holders, and the tree's own reference."""

import pytest

from isotherm.cache.pool import IdPool


def test_ids_start_at_one_and_end_at_the_capacity() -> None:
    pool = IdPool(3)
    assert sorted(pool.allocate() for _ in range(3)) == [1, 2, 3]
    with pytest.raises(IndexError):
        pool.allocate()


def test_an_id_is_free_when_its_last_holder_releases_it() -> None:
    freed: list[int] = []
    pool = IdPool(2, freed.append)
    one = pool.allocate()
    pool.retain(one)
    pool.release(one)
    assert (pool.free, freed) == (1, [])
    pool.release(one)
    assert (pool.free, freed) == (2, [one])


def test_a_kept_id_is_idle_without_holders_and_counts_as_available() -> None:
    pool = IdPool(2)
    one = pool.allocate()
    pool.keep(one)
    assert (pool.idle, pool.available) == (0, 1)
    pool.release(one)
    assert (pool.idle, pool.free, pool.available, pool.used) == (1, 1, 2, 1)
    pool.retain(one)
    assert (pool.idle, pool.available) == (0, 1)


def test_dropping_a_held_id_leaves_it_with_its_holder() -> None:
    freed: list[int] = []
    pool = IdPool(1, freed.append)
    one = pool.allocate()
    pool.keep(one)
    pool.drop(one)
    assert freed == []
    pool.release(one)
    assert freed == [one]


@pytest.mark.parametrize("misuse", ["release", "retain", "keep", "drop"])
def test_a_free_id_refuses_everything(misuse: str) -> None:
    pool = IdPool(1)
    with pytest.raises(ValueError, match="id 1"):
        getattr(pool, misuse)(1)


def test_an_id_cannot_be_kept_twice() -> None:
    pool = IdPool(1)
    pool.keep(pool.allocate())
    with pytest.raises(ValueError, match="cannot be kept"):
        pool.keep(1)


def test_check_notices_a_holder_that_nobody_admits_to() -> None:
    pool = IdPool(2)
    pool.allocate()
    pool.check({1: 1})
    with pytest.raises(AssertionError, match="should be"):
        pool.check({})
