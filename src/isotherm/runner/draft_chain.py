"""A drafter's guesses one after the other on the CPU: each is one played call, with nothing laid out between them."""

from array import array
from collections.abc import Callable, Sequence
from ctypes import addressof
from itertools import accumulate, chain
from typing import cast

import torch
from torch import Tensor

from isotherm.kernels.api import Kernels
from isotherm.kernels.batch import Batch
from isotherm.kernels.c_provider import CKernels
from isotherm.kernels.native.batch import BatchPointers
from isotherm.kernels.native.recording import Recorder, Recording, Workspace
from isotherm.kernels.sampling.c import Choice, choose
from isotherm.model.decoder import Decoder
from isotherm.model.mtp import AnyMtp
from isotherm.model.state import DrafterState
from isotherm.runner.ahead import Ahead
from isotherm.runner.sampler import Sampler, is_adjusted

MOST_SEQUENCES = 64
"""That are guessed for together."""


class DraftChain:
    """Guesses over one state, recorded once for each number of sequences. What the sampler would choose is chosen here."""

    def __init__(self, mtp: AnyMtp, decoder: Decoder, state: DrafterState):
        self.state = state
        self._mtp, self._decoder = mtp, decoder
        self._workspace = Workspace()
        self._steps: dict[int, _Steps] = {}

    def takes(self, live: Sequence[Ahead]) -> bool:
        """See isotherm.runner.drafter.Chain: no choice may depend on the tokens before it but by the logits."""
        return len(live) <= MOST_SEQUENCES and not any(is_adjusted(ahead.row) for ahead in live)

    def guesses(
        self, live: Sequence[Ahead], step: int, rows: Tensor, count: int, sampler: Sampler
    ) -> tuple[list[list[int]], Tensor]:
        """See isotherm.runner.drafter.Chain."""
        steps = self._steps.get(len(live))
        if steps is None:
            steps = self._steps[len(live)] = _Steps(self._mtp, self._decoder, self.state, len(live), self._workspace)
        steps.begin(live, step, rows)
        found = [steps.choose()]
        for _ in range(count - 1):
            found.append(steps.go_on())
        return list(map(list, zip(*found, strict=True))), steps.rows


class _Steps:
    """The calls for `size` sequences, over memory that stays where it is. rows: the drafter's, of each one's last token."""

    def __init__(self, mtp: AnyMtp, decoder: Decoder, state: DrafterState, size: int, workspace: Workspace):
        self._mtp, self._state, self._workspace = mtp, state, workspace
        self._native = cast(CKernels, decoder.kernels).native
        self.rows = torch.empty(size, decoder.spec.hidden_size, dtype=decoder.kernels.dtype)
        self._tokens = torch.zeros(size, dtype=torch.int32)
        self._choices = (Choice * size)()
        self._blocks = array("i")
        none, zeros = torch.empty(0, dtype=torch.int32), torch.zeros(size + 1, dtype=torch.int32)
        positions, lanes, offsets = torch.zeros_like(zeros[1:]), torch.zeros_like(zeros[1:]), torch.zeros_like(zeros)
        self._batch = Batch(
            positions=positions,
            row_offsets=torch.arange(size + 1, dtype=torch.int32),
            starts=positions,
            lanes=lanes,
            states=zeros[1:],
            write_offsets=zeros,
            write_positions=none,
            write_slots=none,
            block_offsets=offsets,
            blocks=none,
        )
        self._pointers = BatchPointers.of(self._batch)
        self._positions, self._lanes, self._offsets = positions.numpy(), lanes.numpy(), offsets.numpy()
        self._first: Recording | None = None
        self._next: Recording | None = None

    def begin(self, live: Sequence[Ahead], step: int, rows: Tensor) -> None:
        """From rows of the tokens `step` after each sequence's last one."""
        self.rows.copy_(rows)
        tables = [ahead.segment.blocks for ahead in live]
        self._offsets[1:] = list(accumulate(map(len, tables)))
        self._blocks = array("i", chain.from_iterable(tables))
        self._pointers.blocks = self._blocks.buffer_info()[0]
        self._positions[:] = [ahead.position + step for ahead in live]
        self._lanes[:] = [ahead.segment.lane for ahead in live]
        for place, ahead in enumerate(live):
            params, row = ahead.row.params, ahead.row
            key = (row.seed, row.choice, ahead.position + step + 1)
            self._choices[place] = Choice.of(params.temperature, params.top_k, params.top_p, params.min_p, key)

    def choose(self) -> list[int]:
        """The guess after each row."""
        if self._first is None:
            self._first = self._recorded(self._choice)
        else:
            self._first.play()
        return self._chosen()

    def go_on(self) -> list[int]:
        """The guesses after the last ones, whose rows are made first."""
        if self._next is None:
            self._next = self._recorded(self._entry)
        else:
            self._next.play()
        return self._chosen()

    def _chosen(self) -> list[int]:
        found: list[int] = self._tokens.tolist()
        if min(found) < 0:  # logits that are not finite: a guess like any other
            self._tokens.clamp_(min=0)
            return [max(token, 0) for token in found]
        return found

    def _recorded(self, function: Callable[[Recorder], None]) -> Recording:
        """Its calls, which have been made."""
        recorder = Recorder(self._native, self._pointers, self._workspace)
        function(recorder)
        return recorder.recording()

    def _choice(self, recorder: Recorder) -> None:
        logits = self._mtp.logits(cast(Kernels, CKernels(recorder)), self.rows)
        choices = torch.frombuffer(self._choices, dtype=torch.uint8).view(len(self._tokens), -1)
        _copy(recorder, self._tokens, choose(recorder, logits, choices))

    def _entry(self, recorder: Recorder) -> None:
        kernels, positions = cast(Kernels, CKernels(recorder)), self._batch.positions
        recorder.function("iso_go_on", "ppl")(positions.data_ptr(), addressof(self._choices), len(positions))
        rows = self._mtp.forward(kernels, self._batch, self.rows, self._tokens, self._state.kv)
        _copy(recorder, self.rows, rows)
        self._choice(recorder)


def _copy(recorder: Recorder, to: Tensor, rows: Tensor) -> None:
    recorder.function("iso_copy", "ppl")(to.data_ptr(), rows.data_ptr(), rows.nbytes)
