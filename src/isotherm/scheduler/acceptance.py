"""How often the guesses for one sequence were right, and how many more are worth checking."""

MOST = 8
HOPE = 0.8
"""What a guess is thought to be worth before any was checked."""

STEP = 1 / 8
"""How much of an estimate the latest outcome replaces."""

FORGIVING = 1 / 200
"""How far the estimate of a place that was not checked goes back to hope, a pass: so it is tried again now and then."""

WORTH = 0.4
"""The least chance of being right with which a guess is worth its row and the drafter's step."""


class Acceptance:
    """For each place in a draft, the chance that its guess is right where those before it are.

    A function of the sequence's own guesses and tokens, never of time.
    """

    __slots__ = ("_chances", "_checked")

    def __init__(self) -> None:
        self._chances = [HOPE] * MOST
        self._checked = False

    def learn(self, guesses: int, right: int) -> None:
        """So many guesses were checked, and the first `right` of them were what was chosen."""
        if not guesses and not self._checked:
            return
        self._checked = True
        checked = min(guesses, right + 1)
        for place, chance in enumerate(self._chances):
            if place < checked:
                self._chances[place] += STEP * ((place < right) - chance)
            elif chance < HOPE:
                self._chances[place] += FORGIVING * (HOPE - chance)

    def worth(self) -> int:
        """How many guesses are worth checking."""
        chance = 1.0
        for place, one in enumerate(self._chances):
            chance *= one
            if chance < WORTH:
                return place
        return MOST
