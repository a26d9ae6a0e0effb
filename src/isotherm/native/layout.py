"""The historical layouts: where prefill is cut, where snapshots fall, and what of the cache may be reused."""

from dataclasses import dataclass, field

from isotherm.core.constants import BLOCK, block_floor
from isotherm.core.layout import Layout, Tokens
from isotherm.core.numerics import NativeConfig

TAIL = 16
"""Tokens in a block of the engine whose split tail this reproduces; ours have 64."""


@dataclass(frozen=True, slots=True)
class NativeLayout(Layout):
    """A Layout whose methods follow the switches of `native`. Without any it is the exact one.

    On a grid every pass ends at a cut: a multiple of `grid`, or, past the last of those below the prompt's end (its last
    stretch), a multiple of `fine_grid`. N below is the number of prompt tokens.
    """

    native: NativeConfig = field(default_factory=NativeConfig)

    def next_cut(self, start: int, prompt_tokens: int) -> int:
        """The first position after `start` where prefill is cut; N when there is none before."""
        native = self.native
        if native.grid:
            for grid in (native.grid, native.fine_grid):
                if grid and (cut := (start // grid + 1) * grid) < prompt_tokens:
                    return cut
        elif native.tail_split and (tail := (prompt_tokens - 1) // TAIL * TAIL - TAIL) > start:
            return tail
        return prompt_tokens

    def segment_end(self, start: int, known: int, prompt_tokens: int, budget: int) -> int:
        """To the next cut. On a grid, a pass without room for the whole way waits."""
        cut = known if start >= prompt_tokens else self.next_cut(start, prompt_tokens)
        end = known if cut == prompt_tokens else cut
        if end - start <= budget:
            return end
        return start if end - start <= self.native.grid else start + budget

    def prompt_snapshots(self, prompt_tokens: int, hint: int, junction: int) -> tuple[int, ...]:
        """The exact layout's, and a block before each when restoring below the match; on a grid, cuts stand for blocks, and
        the last two are among them."""
        points = set(Layout.prompt_snapshots(self, prompt_tokens, hint, block_floor(junction)))
        if self.native.grid:
            last = self.cut_before(prompt_tokens, prompt_tokens)
            points = {self.cut_before(point + 1, prompt_tokens) for point in points}
            points |= {last, self.cut_before(last, prompt_tokens)}
            if self.native.restore == "below":
                points |= {self.cut_before(point, prompt_tokens) for point in points}
        elif self.native.restore == "below":
            points |= {point - BLOCK for point in points}
        return tuple(sorted(point for point in points if point >= BLOCK))

    def cut_before(self, position: int, prompt_tokens: int) -> int:
        """The last cut before both `position` and N, on a grid; 0 when there is none."""
        grid, fine = self.native.grid, self.native.fine_grid
        place = max(min(position, prompt_tokens) - 1, 0)
        return place // fine * fine if fine and place >= self._last_stretch(prompt_tokens) else place // grid * grid

    def published_of_prompt(self, computed: int, prompt_tokens: int) -> int:
        """On a grid, up to the last cut: what follows it comes from a pass that a longer prompt would not make."""
        if self.native.grid:
            return self.cut_before(computed + 1, prompt_tokens)
        return Layout.published_of_prompt(self, computed, prompt_tokens)

    def published_at_the_end(self, computed: int, prompt_tokens: int) -> int:
        """On a grid nothing more: generated tokens come from decode, and a prefill of them has other bits."""
        return 0 if self.native.grid else Layout.published_at_the_end(self, computed, prompt_tokens)

    def keys(self, tokens: Tokens, start: int, prompt_tokens: int) -> Tokens:
        """Tokens of fine passes are told apart from the same tokens of coarse ones, by their sign."""
        if not self.native.fine_grid:
            return tokens
        coarse = max(0, self._last_stretch(prompt_tokens) - start)
        return tokens[:coarse] + tuple(-1 - token for token in tokens[coarse:])

    def may_restore(self, position: int, matched: int, tokens: int) -> bool:
        """Whether a sequence of `tokens` known tokens, `matched` of them in the cache, may go on from a snapshot there."""
        if self.native.restore == "never" or (self.native.restore == "below" and position >= matched):
            return False
        return not self.native.grid or self.cut_before(position + 1, tokens) == position

    def _last_stretch(self, prompt_tokens: int) -> int:
        return (prompt_tokens - 1) // self.native.grid * self.native.grid
