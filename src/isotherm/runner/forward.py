"""One sequence through a model, cut as the caller likes: what the self-check and the oracle comparison run."""

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK, ZERO_SLOT, block_floor, blocks_for
from isotherm.core.plan import PassPlan, Segment, StateWrite
from isotherm.kernels.batch import Batch
from isotherm.model.decoder import Decoder
from isotherm.model.state import ModelState, allocate
from isotherm.runner.drafter import Drafter
from isotherm.runner.layout import lay_out


class Sequenced:
    """Owns the state of one sequence, its drafter's too if it has one.

    Block i has id i + 1, and the state at boundary b is kept in slot b / 64.
    """

    def __init__(self, decoder: Decoder, longest: int, drafter: Drafter | None = None):
        self.decoder = decoder
        self._drafter = drafter
        blocks = blocks_for(longest)
        self.state: ModelState = allocate(decoder.spec, decoder.kernels, blocks + 1, blocks + 1, 1, drafter is not None)
        self.length = 0

    def extend(self, tokens: Sequence[int]) -> Tensor:
        """Compute the next tokens as one segment; logits of each of them [n, vocabulary] float32."""
        with torch.inference_mode():
            return self.decoder.logits(self.rows(tokens)[1])

    @torch.inference_mode()
    def rows(self, tokens: Sequence[int]) -> tuple[Batch, Tensor]:
        """Compute the next tokens as one segment; the pass, and the hidden rows [n, hidden] before the final norm."""
        start, end = self.length, self.length + len(tokens)
        segment = Segment(
            sequence=0,
            lane=0,
            start=start,
            tokens=tuple(tokens),
            blocks=tuple(range(1, blocks_for(end) + 1)),
            state=start // BLOCK if start >= BLOCK else ZERO_SLOT,
            writes=tuple(
                StateWrite(boundary, boundary // BLOCK)
                for boundary in range(block_floor(start) + BLOCK, block_floor(end) + 1, BLOCK)
            ),
        )
        batch, ids = self.decoder.kernels.placed(*lay_out(PassPlan((segment,))))
        hidden = self.decoder.forward(batch, ids, self.state)
        if self._drafter is not None and self.state.drafter is not None:
            self._drafter.follow(batch, ids, hidden, self.state.drafter)
        self.length = end
        return batch, hidden


def logits_of(decoder: Decoder, tokens: Sequence[int], cuts: Sequence[int] = ()) -> Tensor:
    """Logits [T, vocabulary] float32 of every position, with the sequence cut into segments at `cuts`."""
    sequence = Sequenced(decoder, len(tokens))
    edges = [0, *sorted(cuts), len(tokens)]
    return torch.cat([sequence.extend(tokens[a:b]) for a, b in itertools.pairwise(edges) if b > a])
