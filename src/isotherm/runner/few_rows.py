"""Passes of few rows, whose calls are recorded once for each number of rows and then played in one.

A decode of one token makes a hundred calls, and the interpreter takes longer between them than some take to run. The calls are
the same for every pass of as many rows, except for the batch, the tokens and the positions, and these are read through
memory that stays where it is. Played calls are the recorded ones: same functions, same arguments, same bits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from torch import Tensor

from isotherm.kernels.api import Kernels
from isotherm.kernels.batch import Batch
from isotherm.kernels.c_provider import CKernels
from isotherm.kernels.native.batch import BatchPointers
from isotherm.kernels.native.recording import Recorder, Recording, Workspace
from isotherm.model.decoder import Decoder, Layer
from isotherm.model.mlp import Mlp
from isotherm.model.state import ModelState

MOST_ROWS = 144
"""Sixteen sequences with eight guesses each; with more, the calls take longer than what is between."""

MOST_LOGITS = 64
"""Rows whose logits are made with the pass and lie there beside each other."""

Function = Callable[..., tuple[Tensor, ...]]
"""function(kernels, batch, *inputs), inputs [M, ...] -> results [M, ...], by calls of `kernels` and by nothing else."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """The calls of a pass, with the memory that they read and write beside what the function knows of."""

    recording: Recording
    pointers: BatchPointers
    positions: Tensor
    inputs: tuple[Tensor, ...]
    results: tuple[Tensor, ...]


class Recorded:
    """A function that makes calls of C kernels, for at most MOST_ROWS rows."""

    def __init__(self, kernels: Kernels, function: Function):
        self._kernels = cast(CKernels, kernels)
        self._function = function
        self._passes: dict[int, _Pass] = {}
        self._workspace = Workspace()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of rows that were recorded, in that order."""
        return tuple(self._passes)

    def __call__(self, batch: Batch, *inputs: Tensor) -> tuple[Tensor, ...]:
        """The results; good until the next call."""
        known = self._passes.get(batch.rows)
        if known is None:
            known = self._passes[batch.rows] = self._record(batch, inputs)
            return known.results
        known.pointers.point_to(batch)
        known.positions.copy_(batch.positions)
        for kept, given in zip(known.inputs, inputs, strict=True):
            kept.copy_(given)
        known.recording.play()
        return known.results

    def _record(self, batch: Batch, inputs: tuple[Tensor, ...]) -> _Pass:
        pointers, positions = BatchPointers.of(batch), batch.positions.clone()
        kept = tuple(given.clone() for given in inputs)
        recorder = Recorder(self._kernels.native, pointers, self._workspace)
        results = self._function(cast(Kernels, CKernels(recorder)), replace(batch, positions=positions), *kept)
        return _Pass(recorder.recording(), pointers, positions, kept, results)


Reads = Callable[[Kernels, Batch, Tensor], tuple[Tensor, Tensor]]
"""reads(kernels, batch, hidden): the rows after the final norm, and of each the one before it, as a drafter wants them."""


@dataclass(frozen=True, slots=True)
class Decided:
    """Rows of a pass with logits [M, vocabulary] of each, and the tokens chosen [M]; good until the next pass.

    read, before: what the drafter reads; None where there is none.
    """

    hidden: Tensor
    logits: Tensor
    chosen: Tensor
    read: Tensor | None = None
    before: Tensor | None = None


class FewRows:
    """The forward passes of one decoder over one state, for at most MOST_ROWS rows. reads: its drafter's."""

    def __init__(self, decoder: Decoder, state: ModelState, reads: Reads | None = None):
        self.decoder, self.state = decoder, state
        self._reads = reads
        self.recorded = Recorded(decoder.kernels, self._forward)
        self._decided = Recorded(decoder.kernels, self._decide)

    @property
    def reads(self) -> bool:
        """Whether what a drafter reads is made with the choices."""
        return self._reads is not None

    @staticmethod
    def can_record(decoder: Decoder) -> bool:
        """Whether all that a forward pass does is calls of C kernels."""
        return can_record(decoder.kernels, decoder.layers)

    def forward(self, batch: Batch, tokens: Tensor) -> Tensor:
        """As Decoder.forward; the result is good until the next pass."""
        (hidden,) = self.recorded(batch, tokens)
        return hidden

    def decide(self, batch: Batch, tokens: Tensor, choices: Tensor) -> Decided:
        """A pass of which every row chooses a token. choices: as CKernels.choose takes them."""
        return Decided(*self._decided(batch, tokens, choices))

    def _forward(self, kernels: Kernels, batch: Batch, tokens: Tensor) -> tuple[Tensor, ...]:
        return (replace(self.decoder, kernels=kernels).forward(batch, tokens, self.state),)

    def _decide(self, kernels: Kernels, batch: Batch, tokens: Tensor, choices: Tensor) -> tuple[Tensor, ...]:
        decoder = replace(self.decoder, kernels=kernels)
        hidden = decoder.forward(batch, tokens, self.state)
        read = () if self._reads is None else self._reads(kernels, batch, hidden)
        logits = kernels.logits(read[0] if read else decoder.normed(hidden), decoder.head)
        return hidden, logits, cast(CKernels, kernels).choose(logits, choices), *read


def can_record(kernels: Kernels, layers: Sequence[object]) -> bool:
    """Whether all that these layers do is calls of C kernels. Experts are sorted by torch."""
    dense = all(isinstance(layer, Layer) and isinstance(layer.feed, Mlp) for layer in layers)
    return type(kernels) is CKernels and dense
