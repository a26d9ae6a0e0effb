"""Who runs and who waits, both in order of arrival."""

from bisect import insort

from isotherm.scheduler.sequence import Sequence


class Roster:
    """Running sequences have a lane each; waiting ones are computed from nothing, or from a hit, when they are admitted.

    Both lists are in order of arrival, also after a preemption: the preempted one arrived before all that were never admitted.
    """

    def __init__(self, lanes: int):
        self.running: list[Sequence] = []
        self.waiting: list[Sequence] = []
        self._lanes = list(range(lanes - 1, -1, -1))

    @property
    def has_lane(self) -> bool:
        """Whether another sequence could run."""
        return bool(self._lanes)

    def wait(self, sequence: Sequence) -> None:
        """Queue a sequence at its place."""
        insort(self.waiting, sequence, key=_arrival)

    def start(self, sequence: Sequence) -> None:
        """The head of the queue gets a lane."""
        self.waiting.remove(sequence)
        sequence.lane = self._lanes.pop()
        insort(self.running, sequence, key=_arrival)

    def stop(self, sequence: Sequence) -> None:
        """A running sequence gives its lane back, to run later or never."""
        self.running.remove(sequence)
        self._lanes.append(sequence.lane)
        sequence.lane = -1


def _arrival(sequence: Sequence) -> int:
    return sequence.number
