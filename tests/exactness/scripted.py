"""A drafter that reads from a script."""

import random

from harness import EOS

from isotherm.runner.drafter import Drafter


class Scripted(Drafter):
    """Knows what is coming, and is right as often as it is told to be."""

    def __init__(self, drafter: Drafter, coming: dict[int, tuple[int, ...]], chance: float):
        self._inner, self._coming, self._chance, self._random = drafter, coming, chance, random.Random(5)
        self.proposed = 0

    @property
    def reads_normed(self):
        return self._inner.reads_normed

    def rows(self, *args):
        return self._inner.rows(*args)

    def follow(self, *args):
        return self._inner.follow(*args)

    def propose(self, plan, *args):
        real = self._inner.propose(plan, *args)
        return tuple(self._guesses(segment, drafts) for segment, drafts in zip(plan.segments, real, strict=True))

    def _guesses(self, segment, drafts):
        self.proposed += len(drafts)
        known = self._coming[segment.sequence]
        at = segment.end - segment.drafts  # the first token that this pass chooses
        after = next(
            (
                place
                for place in range(at, segment.end + 1)
                if place >= len(known) or self._differs(segment, known, place)
            ),
            at,
        )
        guesses = known[after + 1 : after + 1 + len(drafts)]
        return tuple(token if self._random.random() < self._chance else (token + 1) % EOS for token in guesses)

    @staticmethod
    def _differs(segment, known, place):
        index = place - segment.start
        return index >= len(segment.tokens) or segment.tokens[index] != known[place]
