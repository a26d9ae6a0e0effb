"""A drafter's guesses one after the other on the CPU: each is one played call, with nothing laid out between them."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
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
        self._mtp, self._decoder, self._state, self._workspace = mtp, decoder, state, workspace
        self._native = cast(CKernels, decoder.kernels).native
        none, zeros = torch.empty(0, dtype=torch.int32), torch.zeros(size + 1, dtype=torch.int32)
        self._positions, self._lanes = zeros[:size].clone(), zeros[:size].clone()
        self._tokens = zeros[:size].clone()
        self._batch = Batch(
            positions=self._positions,
            row_offsets=torch.arange(size + 1, dtype=torch.int32),
            starts=self._positions,
            lanes=self._lanes,
            states=zeros[:size],
            write_offsets=zeros,
            write_positions=none,
            write_slots=none,
            block_offsets=zeros,
            blocks=none,
        )
        self._pointers = BatchPointers.of(self._batch)
        self._choices = (Choice * size)()
        self._first: Recording | None = None
        self._next: Recording | None = None
        self.rows = torch.empty(size, decoder.spec.hidden_size, dtype=decoder.kernels.dtype)

    def begin(self, live: Sequence[Ahead], step: int, rows: Tensor) -> None:
        """From rows of the tokens `step` after each sequence's last one."""
        self.rows.copy_(rows)
        tables = [ahead.segment.blocks for ahead in live]
        offsets = [0]
        for table in tables:
            offsets.append(offsets[-1] + len(table))
        self._positions.copy_(_ints([ahead.position + step for ahead in live]))
        self._lanes.copy_(_ints([ahead.segment.lane for ahead in live]))
        self._batch = replace(self._batch, block_offsets=_ints(offsets), blocks=_ints(list(chain(*tables))))
        self._pointers.point_to(self._batch)
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
        choose(recorder, logits, self._choices, self._tokens)

    def _entry(self, recorder: Recorder) -> None:
        size = len(self._tokens)
        recorder.function("iso_go_on", "ppl")(self._positions.data_ptr(), ctypes.addressof(self._choices), size)
        kernels = cast(Kernels, CKernels(recorder))
        rows = self._mtp.forward(kernels, self._batch, self.rows, self._tokens, self._state.kv)
        recorder.function("iso_copy", "ppl")(self.rows.data_ptr(), rows.data_ptr(), rows.nbytes)
        self._choice(recorder)


def _ints(values: list[int]) -> Tensor:
    return torch.tensor(values, dtype=torch.int32)
