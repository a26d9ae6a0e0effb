"""Which guesses the next pass checks for a sequence that generates."""

from isotherm.core.config import SpeculativeConfig
from isotherm.core.constants import draft_room
from isotherm.core.errors import RequestError
from isotherm.core.request import Request
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

    def check(self, request: Request) -> None:
        """Raises RequestError when a request wants more guesses than there can be."""
        most = 0 if self._config is None else self._config.num_speculative_tokens
        wanted = request.num_speculative_tokens or 0
        if not 0 <= wanted <= most:
            raise RequestError(
                "num_speculative_tokens", f"must be from 0 to {most}, as this engine is set; got {wanted}"
            )

    def for_(self, sequence: Sequence, rows: int) -> tuple[int, ...]:
        """Guesses for the tokens after the last one, at most `rows`.

        They stop where a state would be made from one, and before the answer's greatest length.
        """
        if self._config is None:
            return ()
        room = min(self._most(sequence), rows, draft_room(sequence.computed), self._left(sequence))
        return self.found(sequence, room) if room > 0 else ()

    def found(self, sequence: Sequence, room: int) -> tuple[int, ...]:
        """At most `room` guesses, from wherever they come."""
        if self._config is not None and self._config.method == "ngram":
            return what_followed(sequence.tokens(max(0, sequence.length - WINDOW), sequence.length), room)
        return sequence.drafts[:room]

    def ahead(self, sequence: Sequence) -> int:
        """How many guesses to want of the drafter once the next token is chosen."""
        if self._config is None or self._config.method != "mtp":
            return 0
        return max(0, min(self._most(sequence), self._left(sequence) - 1))

    def reach(self, position: int) -> int:
        """`position`, or the last one that a sequence can ever hold."""
        return min(position, self._max_model_len)

    def _most(self, sequence: Sequence) -> int:
        """What configuration, request and experience allow."""
        config, wanted = self._config, sequence.request.num_speculative_tokens
        if config is None or sequence.wants_scores:
            return 0
        most = config.num_speculative_tokens if wanted is None else min(wanted, config.num_speculative_tokens)
        return min(most, sequence.acceptance.worth()) if config.adaptive else most

    def _left(self, sequence: Sequence) -> int:
        """Tokens that may still come after the next one."""
        most = sequence.request.sampling.max_tokens or self._max_model_len
        return min(self._max_model_len - sequence.length, most - len(sequence.generated)) - 1


def what_followed(tokens: tuple[int, ...], most: int) -> tuple[int, ...]:
    """The tokens that came after the latest earlier occurrence of the last ones, of as many of these as recur."""
    for length in range(min(LONGEST_MATCH, len(tokens) - 1), 0, -1):
        end = tokens[-length:]
        for start in range(len(tokens) - length - 1, -1, -1):
            if tokens[start] == end[0] and tokens[start : start + length] == end:
                return tokens[start + length : start + length + most]
    return ()
