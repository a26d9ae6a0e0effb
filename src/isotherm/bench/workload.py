"""What is measured: prompts of random token ids that no earlier request shares, greedy, ends ignored."""

import random
from dataclasses import dataclass, field

TAIL = 64
"""Tokens at a warm prompt's end that differ from the cold one's."""

LOWEST_ID = 256
RESERVED_IDS = 64
UNKNOWN_VOCABULARY = 1024
"""When a server does not say how many tokens it knows, ids below this are used."""


@dataclass(frozen=True, slots=True)
class Workload:
    """lengths: of the prompts whose first token is timed, cold and warm. concurrency: of the requests sent at once.

    The rest: prompt and new tokens of each figure.
    """

    lengths: tuple[int, ...] = (512, 2048, 8192)
    decode_prompt: int = 512
    decode_new: int = 128
    concurrency: tuple[int, ...] = (8,)
    batch_prompt: int = 512
    batch_new: int = 64
    repeats: int = 3
    seed: int = 0

    @property
    def batch(self) -> int:
        """The most requests at once."""
        return max(self.concurrency)

    @property
    def longest(self) -> int:
        """Tokens of the longest sequence."""
        return max(*self.lengths, self.decode_prompt + self.decode_new, self.batch_prompt + self.batch_new)


@dataclass(slots=True)
class Prompts:
    """A stream of random prompts: the same seed and vocabulary give the same ones."""

    vocabulary: int
    seed: int
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def next(self, length: int) -> list[int]:
        """`length` token ids, away from both ends of the vocabulary, where bytes and special tokens are."""
        highest = max(self.vocabulary - RESERVED_IDS, LOWEST_ID + 1)
        return [self._random.randrange(LOWEST_ID, highest) for _ in range(length)]

    def with_new_tail(self, prompt: list[int]) -> list[int]:
        """`prompt` with other tokens in its last TAIL places (half of a short one)."""
        tail = min(TAIL, len(prompt) // 2)
        return prompt[: len(prompt) - tail] + self.next(tail)
