"""Which guesses the next pass checks for a sequence that generates."""

from isotherm.core.config import SpeculativeConfig
from isotherm.core.constants import draft_room
from isotherm.scheduler.sequence import Sequence

LONGEST_MATCH = 4
"""Tokens that must have come before in the same order, at most, for what followed them to be guessed again."""

WINDOW = 4096
"""How far back they are looked for."""


class Guesses:
    """A function of the sequence's own tokens and of what its drafter said. Guesses change no answer, only how soon it comes."""

    def __init__(self, config: SpeculativeConfig | None, max_model_len: int):
        self._config = config
        self._max_model_len = max_model_len

    @property
    def reserve(self) -> int:
        """Positions beyond a segment's end whose block a sequence must hold: the drafter writes there."""
        return 0 if self._config is None else 1

    def for_(self, sequence: Sequence, rows: int) -> tuple[int, ...]:
        """Guesses for the tokens after the last one, at most `rows`.

        They stop before the next block boundary, since rows since a boundary are kept and state exists nowhere else, and before
        the answer's greatest length.
        """
        if self._config is None or sequence.wants_scores:
            return ()
        room = min(
            self._config.num_speculative_tokens,
            rows,
            draft_room(sequence.computed),
            self._max_model_len - sequence.length - 1,
            (sequence.request.sampling.max_tokens or self._max_model_len) - len(sequence.generated) - 1,
        )
        if room < 1:
            return ()
        if self._config.method == "ngram":
            return what_followed(sequence.tokens(max(0, sequence.length - WINDOW), sequence.length), room)
        return sequence.drafts[:room]


def what_followed(tokens: tuple[int, ...], most: int) -> tuple[int, ...]:
    """The tokens that came after the latest earlier occurrence of the last ones, of as many of these as recur."""
    for length in range(min(LONGEST_MATCH, len(tokens) - 1), 0, -1):
        end = tokens[-length:]
        for start in range(len(tokens) - length - 1, -1, -1):
            if tokens[start] == end[0] and tokens[start : start + length] == end:
                return tokens[start + length : start + length + most]
    return ()
