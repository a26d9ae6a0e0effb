"""Saved states are remembered, and restored ones compared."""

import torch

from isotherm.core.plan import PassPlan, Replay, Segment, StateWrite
from isotherm.native.checksums import Checksums

SAVE = PassPlan((Segment(0, 0, 0, (1,) * 64, (1,), 0, (StateWrite(64, 3),)),))


def restoring(start: int = 64) -> PassPlan:
    return PassPlan((Segment(1, 0, start, (1,) * 10, (1, 2), 3, replay=Replay(64, 70, rewrites=True)),))


def test_only_the_restoring_segment_is_compared() -> None:
    checksums = Checksums({"a": torch.randn(4, 5), "b": torch.ones(4, 2, dtype=torch.bfloat16)})
    checksums.after(SAVE)
    checksums.before(restoring())
    checksums.before(restoring(start=66))
    checksums.before(SAVE)
    assert (checksums.equal, checksums.restored) == (1, 1)


def test_a_state_that_changed_is_counted_as_not_equal() -> None:
    for name in ("a", "b"):
        state = {"a": torch.randn(4, 5), "b": torch.ones(4, 2, dtype=torch.bfloat16)}
        checksums = Checksums(state)
        checksums.after(SAVE)
        state[name][3, 1] += 1
        checksums.before(restoring())
        assert (checksums.equal, checksums.restored) == (0, 1)


def test_a_state_that_was_never_saved_is_not_equal() -> None:
    checksums = Checksums({"a": torch.zeros(4, 5)})
    checksums.before(restoring())
    assert (checksums.equal, checksums.restored) == (0, 1)
