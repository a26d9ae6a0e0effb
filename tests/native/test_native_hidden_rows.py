"""Rows kept for a drafter: what is kept, for how long, and in how many bytes."""

import pytest
import torch

from isotherm.native.hidden_rows import HiddenRows, Piece, before

BYTES = 64 * (8 * 2 + 4)
"""A piece of 64 tokens with rows of 8 numbers in bfloat16."""


def piece(start: int, count: int = 64) -> Piece:
    return Piece(start, torch.arange(count, dtype=torch.int32), torch.randn(count, 8).bfloat16())


def test_what_is_kept_is_given_back_until_its_slot_is_free() -> None:
    kept, rows = HiddenRows(10 * BYTES), [piece(0), piece(64)]
    kept.keep(3, rows)
    assert kept.has(3) and kept.take(3) == tuple(rows) and kept.bytes == 2 * BYTES
    kept.freed("block", 3)
    assert kept.has(3), "a block of that number is another thing"
    kept.freed("slot", 3)
    kept.freed("slot", 3)
    assert not kept.has(3) and kept.take(3) == () and kept.bytes == 0


def test_pieces_of_several_slots_count_once_and_stay_until_the_last_is_gone() -> None:
    kept, first, second = HiddenRows(10 * BYTES), piece(0), piece(64)
    kept.keep(1, [first])
    kept.keep(2, [first, second])
    assert kept.bytes == 2 * BYTES
    kept.freed("slot", 2)
    assert kept.bytes == BYTES and kept.take(1) == (first,)


def test_those_used_longest_ago_go_first_when_there_are_too_many_bytes() -> None:
    kept = HiddenRows(2 * BYTES)
    kept.keep(1, [piece(0)])
    kept.keep(2, [piece(0)])
    kept.take(1)
    kept.keep(3, [piece(0)])
    assert [kept.has(slot) for slot in (1, 2, 3)] == [True, False, True]
    kept.keep(4, [piece(0, 200)])
    assert not any(kept.has(slot) for slot in (1, 2, 3, 4)), "it alone is too much"
    assert kept.bytes == 0


def test_a_slot_that_is_written_again_has_the_new_rows() -> None:
    kept, new = HiddenRows(10 * BYTES), piece(0)
    kept.keep(1, [piece(0), piece(64)])
    kept.keep(1, [new])
    assert kept.take(1) == (new,) and kept.bytes == BYTES


@pytest.mark.parametrize(("position", "lengths"), [(128, [64, 64]), (100, [64, 36]), (64, [64]), (10, [10]), (0, [])])
def test_rows_before_a_position_are_whole_pieces_and_a_part(position: int, lengths: list[int]) -> None:
    pieces = [piece(0), piece(64)]
    found = before(pieces, position)
    assert [len(part.rows) for part in found] == lengths
    assert all(torch.equal(part.rows, whole.rows[: len(part.rows)]) for part, whole in zip(found, pieces, strict=False))
    assert not found or found[-1].end == position
