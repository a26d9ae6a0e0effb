"""Passes of few rows on the GPU, recorded once for each size as a CUDA graph and then played.

A decode is some hundreds of launches, and the interpreter takes longer between them than many take to run. Passes are padded to
few sizes (isotherm.kernels.gpu.few); the first pass of a size runs launch by launch and is then recorded. Played launches are
the recorded ones: same kernels, same arguments, same bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from isotherm.core.constants import blocks_for
from isotherm.core.plan import PassPlan, Segment
from isotherm.kernels.api import Kernels
from isotherm.kernels.gpu.batch import DeviceBatch
from isotherm.kernels.gpu.decode import Decode, DecodeNumbers
from isotherm.kernels.gpu.few import FewPass, Sizes, device_batch, few_pass, is_few
from isotherm.kernels.gpu.few_tiles import Heads
from isotherm.kernels.gpu.tables import BlockTables
from isotherm.kernels.gpu.upload import Upload
from isotherm.model.decoder import Decoder
from isotherm.model.state import ModelState
from isotherm.runner.capacity import Capacity
from isotherm.runner.layout import lay_out

MOST_ROWS = 256
"""With more, launches take longer than what is between them."""


_ROWS_EACH = 9
"""The most rows of a decoding sequence: its token and eight guesses."""


@runtime_checkable
class DeviceKernels(Protocol):
    """What a provider on a device has besides `Kernels`. split: keys a split of attention."""

    upload: Upload
    split: int

    def greedy(self, logits: Tensor) -> Tensor:
        """Each row's largest logit, ties to the lowest id, [R] int32; -1 where one is not finite. Waits for nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Played:
    """hidden [R, hidden], logits [R, vocabulary] float32 and chosen [R] int32 of R >= M rows, till the next pass."""

    hidden: Tensor
    logits: Tensor
    chosen: Tensor


@dataclass(frozen=True, slots=True)
class _Record:
    """Memory for the index arrays, the batch that is made of it, and the graph, None where there are none."""

    memory: Tensor
    offsets: dict[str, int]
    size: int
    batch: DeviceBatch
    tokens: Tensor
    graph: torch.cuda.CUDAGraph | None = None


class Graphs:
    """The forward passes, with logits, of one decoder over one state, whose last lane, capacity.lanes, no sequence has."""

    def __init__(self, decoder: Decoder, state: ModelState, capacity: Capacity):
        assert isinstance(decoder.kernels, DeviceKernels)
        self.decoder, self._state, self._lane = decoder, state, capacity.lanes
        self._kernels: DeviceKernels = decoder.kernels
        self._device = decoder.kernels.device
        spec = decoder.spec
        self._heads = Heads(spec.kv.heads, spec.query_heads // spec.kv.heads, self._kernels.split)
        self._tables = BlockTables(capacity.lanes + 1, blocks_for(len(decoder.rope.cos)) + 1, self._device)
        self._most = min(MOST_ROWS, rows_for(capacity.lanes * _ROWS_EACH))
        self._records: dict[Sizes, _Record] = {}
        self._decodes: dict[Sizes, DecodeNumbers] = {}
        self._out: Played | None = None
        self._pool = torch.cuda.graph_pool_handle() if self._device.type == "cuda" else None
        self.played = 0

    @staticmethod
    def can_play(kernels: Kernels) -> bool:
        """Whether the provider is one of a device."""
        return isinstance(kernels, DeviceKernels)

    def play(self, plan: PassPlan) -> Played | None:
        """The pass; None if it is not one of few rows."""
        segments = plan.segments
        if not is_few(segments, self._most):
            return None
        self._tables.update(segments)
        rows = rows_for(sum(len(item.tokens) for item in segments))
        known = Decode.of(segments, rows, self._heads) or self._padded(segments, rows)
        record, fresh = self._records.get(known.sizes), known.sizes not in self._records
        if record is None:
            record = self._records[known.sizes] = self._memory(plan, rows)
        space = self._kernels.upload.space(record.size)
        if isinstance(known, Decode):
            self._numbers(known).write(segments, known, space)
        else:
            known.write(space, record.offsets)
        self._kernels.upload.send(record.size, record.memory)
        if record.graph is None:
            out = self._compute(record)
            if fresh and self._pool is not None:
                self._records[known.sizes] = replace(record, graph=self._recorded(record))
            return out
        record.graph.replay()
        self.played += 1
        return self._slices(rows)

    def _numbers(self, decode: Decode) -> DecodeNumbers:
        sizes = decode.sizes
        if sizes not in self._decodes:
            self._decodes[sizes] = DecodeNumbers(decode, self._lane, self._heads, self._tables.width)
        return self._decodes[sizes]

    def _padded(self, segments: Sequence[Segment], rows: int) -> FewPass:
        return few_pass(segments, rows, self._lane, self._heads, self._tables.width)

    def _memory(self, plan: PassPlan, rows: int) -> _Record:
        few = self._padded(plan.segments, rows)
        offsets, size = few.places()
        memory = torch.zeros(size, dtype=torch.int32, device=self._device)
        made = device_batch(few, lay_out(plan)[0], memory, self._tables.tensor, self._heads)
        return _Record(memory, offsets, size, *made)

    def _compute(self, record: _Record) -> Played:
        rows = record.batch.rows
        hidden = self.decoder.forward(record.batch, record.tokens, self._state)
        logits = self.decoder.logits(hidden)
        chosen = self._kernels.greedy(logits)
        if self._out is None:
            most = [
                torch.empty(self._most, *x.shape[1:], dtype=x.dtype, device=x.device) for x in (hidden, logits, chosen)
            ]
            self._out = Played(*most)
        out = self._slices(rows)
        out.hidden.copy_(hidden)
        out.logits.copy_(logits)
        out.chosen.copy_(chosen)
        return out

    def _slices(self, rows: int) -> Played:
        assert self._out is not None
        return Played(self._out.hidden[:rows], self._out.logits[:rows], self._out.chosen[:rows])

    def _recorded(self, record: _Record) -> torch.cuda.CUDAGraph:
        """Its graph. Recording runs nothing."""
        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
            try:
                self._compute(record)
            finally:
                graph.capture_end()
        torch.cuda.synchronize()
        return graph


def rows_for(rows: int) -> int:
    """The power of two at or above it."""
    return 1 << (rows - 1).bit_length()
