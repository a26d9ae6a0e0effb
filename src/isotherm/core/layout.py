"""Where passes may be cut, what a hit may reuse, and where snapshots fall: one frozen value that scheduler and cache take."""

from dataclasses import dataclass

from isotherm.core.constants import BLOCK, block_floor

Tokens = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Exact mode is the default value; other values reproduce other engines' policies.

    snapshot_interval: a long prompt keeps a snapshot at every multiple of it (tokens, a multiple of 64; 0 for none).
    """

    snapshot_interval: int = 2048

    def segment_end(self, start: int, known: int, prompt_tokens: int, budget: int) -> int:
        """Where a pass that has `budget` rows left ends a sequence's segment from `start`; `start` itself to wait for more.

        known: tokens of the sequence so far, of which `prompt_tokens` are its prompt's.
        """
        return min(known, start + budget)

    def published_of_prompt(self, computed: int, prompt_tokens: int) -> int:
        """How many of a prompt's tokens are published once `computed` are: whole blocks."""
        return block_floor(min(computed, prompt_tokens))

    def published_at_the_end(self, computed: int, prompt_tokens: int) -> int:
        """How many tokens are published, and where the state is, when a sequence retires: its last block boundary, or 0."""
        return block_floor(computed)

    def keys(self, tokens: Tokens, start: int, prompt_tokens: int) -> Tokens:
        """What the cache compares in place of the tokens at `start`: themselves."""
        return tokens

    def deepest_hit(self, prompt_tokens: int) -> int:
        """The most tokens that a hit may skip: at least one token is always computed, for its logits."""
        return block_floor(prompt_tokens - 1)

    def prompt_snapshots(self, prompt_tokens: int, hint: int, junction: int) -> tuple[int, ...]:
        """Block boundaries of a prompt at which its prefill keeps snapshots, ascending.

        hint: tokens before the first user message. junction: the depth to which the cache held this prompt's blocks when
        it arrived, a multiple of 64: where two prompts were seen to part. Both 0 when there is none. A prompt of whole
        blocks keeps two at its end: one for what continues it, one block earlier for itself asked again.
        """
        end = block_floor(prompt_tokens)
        points = {end, self.deepest_hit(prompt_tokens), block_floor(min(hint, prompt_tokens)), min(junction, end)}
        if self.snapshot_interval:
            points.update(range(self.snapshot_interval, prompt_tokens + 1, self.snapshot_interval))
        return tuple(sorted(point for point in points if point >= BLOCK))


EXACT = Layout()
