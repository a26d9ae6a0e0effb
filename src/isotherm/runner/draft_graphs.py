"""A drafter's passes on the GPU, recorded once for each size as CUDA graphs.

Guesses are chosen there, each from the row that the one before it gave, and the host waits once for all of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from isotherm.core.constants import blocks_for
from isotherm.core.plan import Segment
from isotherm.kernels.gpu.batch import DeviceBatch
from isotherm.kernels.gpu.decode import Decode, DecodeNumbers
from isotherm.kernels.gpu.few import entry_pass
from isotherm.kernels.gpu.few_tiles import Heads
from isotherm.kernels.gpu.padded import PaddedPass, device_batch
from isotherm.kernels.gpu.tables import BlockTables
from isotherm.model.decoder import Decoder
from isotherm.model.mtp import Mtp
from isotherm.model.state import DrafterState
from isotherm.runner.ahead import Ahead, after
from isotherm.runner.graphs import DeviceKernels, rows_for
from isotherm.runner.sampler import Sampler, is_adjusted

MOST_GUESSES = 8
_ROWS_EACH = MOST_GUESSES + 2
"""The most rows of a sequence: what stands of a verify, and the token chosen after it."""


@dataclass(slots=True)
class _Record:
    """Memory for the index arrays, what is computed over it, and the graph of that, None before it was recorded."""

    memory: Tensor
    offsets: dict[str, int]
    size: int
    compute: Callable[[], None]
    graph: torch.cuda.CUDAGraph | None = None


class DraftGraphs:
    """Entries of few rows, and chains of guesses, over one state; no sequence has lane `lanes` and block 0."""

    def __init__(self, mtp: Mtp, decoder: Decoder, state: DrafterState, lanes: int):
        assert isinstance(decoder.kernels, DeviceKernels)
        self.state = state
        self._mtp, self._kernels, self._lane = mtp, decoder.kernels, lanes
        self._device_kernels: DeviceKernels = decoder.kernels
        self._device = decoder.kernels.device
        spec = decoder.spec
        self._heads = Heads(spec.kv.heads, spec.query_heads // spec.kv.heads, self._device_kernels.split)
        self._tables = BlockTables(lanes + 1, blocks_for(len(decoder.rope.cos)) + 1, self._device)
        self._most = rows_for(lanes * _ROWS_EACH)
        self._records: dict[object, _Record] = {}
        self._numbers: dict[object, DecodeNumbers] = {}
        self._pool = torch.cuda.graph_pool_handle() if self._device.type == "cuda" else None
        sequences = rows_for(lanes)
        self._rows = torch.zeros(self._most, spec.hidden_size, dtype=decoder.kernels.dtype, device=self._device)
        self._found = torch.zeros_like(self._rows)
        self._chain = torch.zeros_like(self._rows[:sequences])
        self._tokens = torch.zeros(sequences, dtype=torch.int32, device=self._device)
        self._drafts = torch.zeros(MOST_GUESSES, sequences, dtype=torch.int32, device=self._device)
        self._logits = torch.zeros(sequences, spec.vocab_size, device=self._device)

    def entries(self, segments: Sequence[Segment], rows: Tensor) -> Tensor | None:
        """Write the entries of these segments' tokens, each of which came after its row; their rows, till the next call.

        None for more rows than are recorded.
        """
        count = sum(len(item.tokens) for item in segments)
        if count > self._most or len(segments) > self._lane:
            return None
        self._tables.update(segments)
        padded = entry_pass(segments, rows_for(count), self._lane, self._heads, self._tables.width)
        record = self._record(("entries", padded.sizes), padded, self._make_entries)
        self._rows[:count].copy_(rows)
        padded.write(self._device_kernels.upload.space(record.size), record.offsets)
        self._play(record)
        return self._found[:count]

    def takes(self, live: Sequence[Ahead]) -> bool:
        """See isotherm.runner.drafter.Chain."""
        return len(live) <= self._lane

    def guesses(
        self, live: Sequence[Ahead], step: int, rows: Tensor, count: int, sampler: Sampler
    ) -> tuple[list[list[int]], Tensor]:
        """See isotherm.runner.drafter.Chain."""
        size, padded = len(live), rows_for(len(live))
        self._tables.update([ahead.segment for ahead in live])
        self._chain[:size].copy_(rows)
        greedy = all(ahead.row.params.temperature == 0 and not is_adjusted(ahead.row) for ahead in live)
        self._play(self._record(("head", padded), None, lambda _: lambda: self._choose(padded)))
        for place in range(count):
            if place:
                self._step([ahead.segment_at(step + place) for ahead in live])
            if not greedy:
                self._choose_by(sampler, live, step + place)
            self._drafts[place, :size].copy_(self._tokens[:size])
        return self._drafts[:count, :size].T.tolist(), self._chain[:size]

    def _choose_by(self, sampler: Sampler, live: Sequence[Ahead], step: int) -> None:
        """Where noise or a sequence's own tokens have a part in the choice, the host makes it."""
        positions = [ahead.position + step + 1 for ahead in live]
        tokens = sampler.choices(self._logits[: len(live)], [ahead.row for ahead in live], positions)
        for ahead, token in zip(live, tokens, strict=True):
            ahead.row = after(ahead.row, token)
        self._tokens[: len(live)].copy_(torch.tensor(tokens, dtype=torch.int32))

    def _step(self, segments: Sequence[Segment]) -> None:
        """The entry of each sequence's last token, which is chosen on the device, and the choice after it."""
        decode = Decode.of(segments, rows_for(len(segments)), self._heads)
        assert decode is not None
        numbers = self._numbers.get(decode.sizes)
        if numbers is None:
            numbers = DecodeNumbers(decode, self._lane, self._heads, self._tables.width)
            self._numbers[decode.sizes] = numbers
        record = self._record(("step", decode.sizes), numbers.whole, self._make_step)
        numbers.write(segments, decode, self._device_kernels.upload.space(record.size))
        self._play(record)

    def _record(
        self,
        key: object,
        padded: PaddedPass | None,
        make: Callable[[tuple[DeviceBatch, Tensor]], Callable[[], None]],
    ) -> _Record:
        found = self._records.get(key)
        if found is None:
            offsets, size = ({}, 0) if padded is None else padded.places()
            memory = torch.zeros(size, dtype=torch.int32, device=self._device)
            empty = cast(tuple[DeviceBatch, Tensor], (None, memory))
            made = empty if padded is None else device_batch(padded, memory, self._tables.tensor, self._heads)[:2]
            found = self._records[key] = _Record(memory, offsets, size, make(made))
        return found

    def _make_entries(self, made: tuple[DeviceBatch, Tensor]) -> Callable[[], None]:
        batch, tokens = made

        def compute() -> None:
            rows = self._rows[: batch.rows]
            self._found[: batch.rows].copy_(self._mtp.forward(self._kernels, batch, rows, tokens, self.state.kv))

        return compute

    def _make_step(self, made: tuple[DeviceBatch, Tensor]) -> Callable[[], None]:
        batch, _ = made

        def compute() -> None:
            rows, tokens = self._chain[: batch.rows], self._tokens[: batch.rows]
            rows.copy_(self._mtp.forward(self._kernels, batch, rows, tokens, self.state.kv))
            self._choose(batch.rows)

        return compute

    def _choose(self, rows: int) -> None:
        logits = self._mtp.logits(self._kernels, self._chain[:rows])
        self._logits[:rows].copy_(logits)
        self._tokens[:rows].copy_(self._device_kernels.greedy(logits).clamp_min(0))

    def _play(self, record: _Record) -> None:
        if record.size:
            self._device_kernels.upload.send(record.size, record.memory)
        if record.graph is not None:
            record.graph.replay()
            return
        record.compute()
        if self._pool is None:
            return
        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
            try:
                record.compute()
            finally:
                graph.capture_end()
        torch.cuda.synchronize()
        record.graph = graph
