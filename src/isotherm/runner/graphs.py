"""Passes on the GPU, recorded once for each size as a CUDA graph and then played.

A pass is some hundreds of launches, and the interpreter takes longer between them than many take to run. Passes are padded to
few sizes (isotherm.kernels.gpu.few, .prefill); the first pass of a size runs launch by launch. Played launches are the recorded
ones: same kernels, same arguments, same bits.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor

from isotherm.core.constants import blocks_for
from isotherm.core.plan import PassPlan, Segment
from isotherm.kernels.api import Kernels
from isotherm.kernels.gpu.batch import DeviceBatch
from isotherm.kernels.gpu.decode import Decode, DecodeNumbers
from isotherm.kernels.gpu.few import Sizes, few_pass, is_few
from isotherm.kernels.gpu.few_tiles import Heads
from isotherm.kernels.gpu.padded import PaddedPass, device_batch
from isotherm.kernels.gpu.prefill import ROWS, PrefillSizes, prefill_pass
from isotherm.kernels.gpu.tables import BlockTables
from isotherm.kernels.gpu.upload import Upload
from isotherm.kernels.indexed.plan import REACH, Reach
from isotherm.model.decoder import Decoder, Layer
from isotherm.model.state import ModelState
from isotherm.model.stream_layer import StreamLayer
from isotherm.runner.capacity import Capacity
from isotherm.runner.given_ngrams import GivenNgrams

_Value = TypeVar("_Value")

MOST_ROWS = 256
"""Of a pass whose rows are computed one by one. With more, launches take longer than what is between them."""

MOST_PREFILL_ROWS = ROWS[-1]
"""Of a recorded pass with whole chunks."""

MOST_RECORDS = 128
"""Records that are kept; the one that was played longest ago makes room."""

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
    """hidden [R, hidden] of R >= M rows, till the next pass; logits [A, vocabulary] float32 and chosen [A] int32.

    Logits are of all rows, A = R, or of those that the plan asks for, in its order, and then of rows to ignore. A = 0 where the
    pass made none.
    """

    hidden: Tensor
    logits: Tensor
    chosen: Tensor
    of_asked: bool


@dataclass(frozen=True, slots=True)
class _Record:
    """Memory for the index arrays, the batch that is made of it, and the graph, None where there are none.

    ngrams: where the n-gram rows begin. asked: rows whose logits are made, None for all.
    """

    memory: Tensor
    offsets: dict[str, int]
    ngrams: int
    size: int
    batch: DeviceBatch
    tokens: Tensor
    asked: Tensor | None
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
        self._most_prefill = MOST_PREFILL_ROWS
        self._ngrams = GivenNgrams(decoder, state)
        self._records: OrderedDict[object, _Record] = OrderedDict()
        self._seen: OrderedDict[object, None] = OrderedDict()
        self._wait = True
        self._decodes: OrderedDict[Sizes, DecodeNumbers] = OrderedDict()
        self._out: dict[str, Tensor] = {}
        self._pool = torch.cuda.graph_pool_handle() if self._device.type == "cuda" else None
        self.played = 0

    @staticmethod
    def can_play(kernels: Kernels) -> bool:
        """Whether the provider is one of a device."""
        return isinstance(kernels, DeviceKernels)

    @staticmethod
    def can_record(decoder: Decoder) -> bool:
        """Whether all of a pass's plans have padded forms, and nothing in it waits for the device."""
        return Graphs.can_play(decoder.kernels) and all(type(layer) in (Layer, StreamLayer) for layer in decoder.layers)

    def play(self, plan: PassPlan) -> Played | None:
        """The pass; None if it is not to be recorded, or is the first of its size with whole chunks."""
        segments = plan.segments
        known = self._decode(segments) if is_few(segments, self._most) else self._prefill(plan)
        if known is None:
            return None
        self._tables.update(segments)
        record, fresh = self._records.get(known.sizes), known.sizes not in self._records
        if record is None:
            if self._pool is not None:
                torch.cuda.synchronize()  # the record that makes room may still be played
            padded = known if isinstance(known, PaddedPass) else self._few(segments)
            record = _keep(self._records, known.sizes, self._memory(padded))
        self._records.move_to_end(known.sizes)
        space = self._kernels.upload.space(record.size)
        if isinstance(known, Decode):
            self._numbers(known).write(segments, known, space)
        else:
            known.write(space, record.offsets)
        self._ngrams.write(plan, space[record.ngrams :], record.batch.rows)
        self._kernels.upload.send(record.size, record.memory)
        if record.graph is None:
            out = self._compute(record)
            if fresh and self._pool is not None:
                self._records[known.sizes] = replace(record, graph=self._recorded(record))
            return out
        record.graph.replay()
        self.played += 1
        return self._slices(record)

    def _decode(self, segments: Sequence[Segment]) -> Decode | PaddedPass:
        rows = rows_for(sum(len(item.tokens) for item in segments))
        return Decode.of(segments, rows, self._heads) or self._few(segments)

    def _few(self, segments: Sequence[Segment]) -> PaddedPass:
        rows = rows_for(sum(len(item.tokens) for item in segments))
        return few_pass(segments, rows, self._lane, self._heads, self._tables.width)

    def _prefill(self, plan: PassPlan) -> PaddedPass | None:
        """Prompts come in many lengths, and recording takes longer than a pass: a size that comes once is not recorded."""
        asked = asked_rows(plan)
        known = prefill_pass(plan.segments, asked, self._most_prefill, self._lane, self._heads, self._tables.width)
        if known is None or not self._wait or known.sizes in self._records or known.sizes in self._seen:
            return known
        _keep(self._seen, known.sizes, None)
        return None

    def _numbers(self, decode: Decode) -> DecodeNumbers:
        known = self._decodes.get(decode.sizes)
        return known or _keep(
            self._decodes, decode.sizes, DecodeNumbers(decode, self._lane, self._heads, self._tables.width)
        )

    def _memory(self, padded: PaddedPass) -> _Record:
        offsets, ngrams = padded.places()
        rows = padded.arrays["positions"].size
        size = ngrams + self._ngrams.size(rows)
        memory = torch.zeros(size, dtype=torch.int32, device=self._device)
        batch, tokens, asked = device_batch(padded, memory, self._tables.tensor, self._heads)
        batch.plans.update(self._ngrams.plans(memory[ngrams:], rows))
        batch.plans[REACH] = Reach(self._tables.width)
        wanted = asked if isinstance(padded.sizes, PrefillSizes) else None
        return _Record(memory, offsets, ngrams, size, batch, tokens, wanted)

    def _compute(self, record: _Record) -> Played:
        hidden = self.decoder.forward(record.batch, record.tokens, self._state)
        self._put("hidden", hidden, max(self._most, MOST_PREFILL_ROWS))
        wanted = hidden if record.asked is None else hidden.index_select(0, record.asked)
        if len(wanted):
            logits = self.decoder.logits(wanted)
            self._put("logits", logits, max(self._most, 64))
            self._put("chosen", self._kernels.greedy(logits), max(self._most, 64))
        return self._slices(record)

    def _put(self, name: str, rows: Tensor, most: int) -> None:
        """Into memory that stays where it is, of `most` rows."""
        if name not in self._out:
            self._out[name] = torch.empty(most, *rows.shape[1:], dtype=rows.dtype, device=rows.device)
        self._out[name][: len(rows)].copy_(rows)

    def _slices(self, record: _Record) -> Played:
        hidden = self._out["hidden"][: record.batch.rows]
        made = record.batch.rows if record.asked is None else len(record.asked)
        logits, chosen = (self._out[name][:made] if made else hidden[:0] for name in ("logits", "chosen"))
        return Played(hidden, logits, chosen, record.asked is not None)

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


def _keep(kept: OrderedDict[Any, _Value], key: object, value: _Value) -> _Value:
    """One more, and the oldest makes room."""
    if len(kept) >= MOST_RECORDS:
        kept.popitem(last=False)
    kept[key] = value
    return value


def asked_rows(plan: PassPlan) -> list[int]:
    """The rows of the pass that are to be reported."""
    rows, first = [], 0
    for segment in plan.segments:
        rows += [first + row.offset for row in segment.rows]
        first += len(segment.tokens)
    return rows


def rows_for(rows: int) -> int:
    """The power of two at or above it."""
    return 1 << (rows - 1).bit_length()
