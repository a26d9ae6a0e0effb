"""Passes of few rows, whose calls are recorded once for each number of rows and then played in one.

A decode of one token makes a hundred calls, and the interpreter takes longer between them than some take to run. The calls are
the same for every pass of as many rows, except for the batch, the tokens and the positions, and these are read through
memory that stays where it is. Played calls are the recorded ones: same functions, same arguments, same bits.
"""

from dataclasses import dataclass, replace
from typing import cast

from torch import Tensor

from isotherm.kernels.api import Kernels
from isotherm.kernels.batch import Batch
from isotherm.kernels.c_provider import CKernels
from isotherm.kernels.native.batch import BatchPointers
from isotherm.kernels.native.recording import Recorder, Recording, Workspace
from isotherm.model.decoder import Decoder
from isotherm.model.mlp import Mlp
from isotherm.model.state import ModelState

MOST_ROWS = 16
"""Results of a recorded pass are all kept at once, so its rows are few; with more, the calls take longer than what is between."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """The calls of a pass, with the memory that they read and write beside the model's own. hidden: the result."""

    recording: Recording
    pointers: BatchPointers
    tokens: Tensor
    positions: Tensor
    hidden: Tensor


class FewRows:
    """The forward passes of one decoder over one state, for at most MOST_ROWS rows."""

    def __init__(self, decoder: Decoder, state: ModelState):
        self.decoder, self.state = decoder, state
        self._passes: dict[int, _Pass] = {}
        self._workspace = Workspace()

    @staticmethod
    def can_record(decoder: Decoder) -> bool:
        """Whether all that a forward pass does is calls of C kernels. Experts are sorted by torch."""
        return type(decoder.kernels) is CKernels and all(isinstance(layer.feed, Mlp) for layer in decoder.layers)

    def forward(self, batch: Batch, tokens: Tensor) -> Tensor:
        """As Decoder.forward; the result is good until the next pass."""
        known = self._passes.get(batch.rows)
        if known is None:
            known = self._passes[batch.rows] = self._record(batch, tokens)
            return known.hidden
        known.pointers.point_to(batch)
        known.tokens.copy_(tokens)
        known.positions.copy_(batch.positions)
        known.recording.play()
        return known.hidden

    def _record(self, batch: Batch, tokens: Tensor) -> _Pass:
        pointers, tokens, positions = BatchPointers.of(batch), tokens.clone(), batch.positions.clone()
        recorder = Recorder(cast(CKernels, self.decoder.kernels).native, pointers, self._workspace)
        decoder = replace(self.decoder, kernels=cast(Kernels, CKernels(recorder)))
        hidden = decoder.forward(replace(batch, positions=positions), tokens, self.state)
        return _Pass(recorder.recording(), pointers, tokens, positions, hidden)
