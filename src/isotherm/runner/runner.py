"""Runs passes: lays the plan out, calls the model, chooses tokens. The one place that touches state tensors."""

from collections.abc import Callable

import torch
from torch import Tensor

from isotherm.core.plan import NO_COPIES, BlockCopy, HostCopies, PassPlan, PassResult, RowResult, SampleRow, ScoreRow
from isotherm.kernels.batch import Batch
from isotherm.model.decoder import Decoder
from isotherm.model.state import ModelState, allocate
from isotherm.runner.capacity import Capacity
from isotherm.runner.device_sampler import DeviceSampler
from isotherm.runner.drafter import Drafter
from isotherm.runner.few_rows import MOST_LOGITS, MOST_ROWS, Decided, FewRows
from isotherm.runner.graphs import Graphs, Played
from isotherm.runner.host import HostPool
from isotherm.runner.layout import lay_out
from isotherm.runner.sampler import Sampler
from isotherm.runner.watch import PassWatch

Results = tuple[tuple[RowResult, ...], ...]
"""What a pass reports, a tuple a segment."""

LOGIT_ROWS = 64
"""Logits are made and used this many rows at a time, so that scoring a long prompt does not hold them all."""


class Runner:
    """Owns the state store. One pass at a time. record: whether passes may be recorded and played; they give the same bits."""

    def __init__(self, decoder: Decoder, capacity: Capacity, drafter: Drafter | None = None, record: bool = True):
        self.decoder = decoder
        self.drafter = drafter
        on_device = Graphs.can_play(decoder.kernels)
        lanes = capacity.lanes + on_device  # one more for rows that only fill a recorded pass
        self.state: ModelState = allocate(
            decoder.spec, decoder.kernels, capacity.blocks, capacity.slots, lanes, drafter is not None
        )
        self.host = HostPool(self.state, capacity.host_blocks, capacity.host_slots) if capacity.host_slots else None
        self._carried: HostCopies = NO_COPIES
        self.sampler = DeviceSampler(decoder.kernels) if on_device else Sampler(decoder.kernels)
        if record and drafter is not None and self.state.drafter is not None:
            drafter.record(self.state.drafter, capacity.lanes)
        reads = None if drafter is None or self.state.drafter is None else drafter.reads(self.state.drafter)
        self._few_rows = FewRows(decoder, self.state, reads) if record and FewRows.can_record(decoder) else None
        self.graphs = Graphs(decoder, self.state, capacity) if record and Graphs.can_record(decoder) else None

    @torch.inference_mode()
    def carry(self, plan: PassPlan) -> None:
        """Copy what the plan moves between the device and the host tier. To be done once, before the plan is run."""
        if self.host is not None:
            self.host.take(plan.host)
            self.host.give(plan.host)
        self._carried = plan.host

    @torch.inference_mode()
    def run(
        self, plan: PassPlan, watch: PassWatch | None = None, meanwhile: Callable[[], None] = lambda: None
    ) -> PassResult:
        """One forward; results for every row that the plan's segments ask for. `watch` is shown every row and changes nothing.

        meanwhile: called once, while a GPU plays the pass, or before one that is launched from here.
        """
        assert plan.host is NO_COPIES or plan.host is self._carried, "what the pass reads was not brought"
        self._copy(plan.copies)
        played = None if self.graphs is None or watch is not None else self.graphs.play(plan)
        meanwhile()
        rows, places, positions = _asked(plan)
        if played is not None and self.drafter is None:
            return PassResult(_by_segment(plan, self._reported(played, rows, places, positions)))
        batch, tokens = self.decoder.kernels.placed(*lay_out(plan))
        if played is None and watch is None and (decided := self._decided(batch, tokens, rows, places, positions)):
            found = _by_segment(plan, self.sampler.reported(decided.logits, rows, decided.chosen))
            return PassResult(found, self._proposed(plan, found, decided))
        hidden = self._forward(batch, tokens, watch) if played is None else played.hidden[: plan.tokens]
        drafter, kept = self.drafter, self.state.drafter
        read, before = (None, None) if drafter is None or kept is None else drafter.rows(batch, hidden, kept)
        if played is None:
            normed = read if drafter is not None and drafter.reads_normed else None
            results = self._results(hidden, normed, rows, places, positions, watch)
        else:
            results = self._reported(played, rows, places, positions)
        found = _by_segment(plan, results)
        if drafter is None or kept is None or read is None:
            return PassResult(found, self._drafts(plan, found, batch, tokens, hidden))
        return PassResult(found, drafter.propose(plan, found, read, before, kept.kv, self.sampler))

    def _drafts(
        self, plan: PassPlan, found: Results, batch: Batch, tokens: Tensor, hidden: Tensor
    ) -> tuple[tuple[int, ...], ...]:
        """Guesses by a drafter that keeps nothing in the model's state; there is none in exact numerics."""
        return ()

    def _decided(
        self,
        batch: Batch,
        tokens: Tensor,
        rows: list[SampleRow | ScoreRow],
        places: list[int],
        positions: list[int],
    ) -> Decided | None:
        """The pass with its choices, played; None unless every row of it chooses, by its logits alone."""
        few, drafter = self._few_rows, self.drafter
        if few is None or few.decoder is not self.decoder:
            return None
        if len(places) != batch.rows or batch.rows > min(MOST_ROWS, MOST_LOGITS):
            return None
        if drafter is not None and not few.reads:
            return None
        choices = self.sampler.plain_choices(rows, positions)
        return None if choices is None else few.decide(batch, tokens, choices)

    def _proposed(self, plan: PassPlan, found: Results, decided: Decided) -> tuple[tuple[int, ...], ...]:
        drafter, kept = self.drafter, self.state.drafter
        if drafter is None or kept is None or decided.read is None:
            return ()
        return drafter.propose(plan, found, decided.read, decided.before, kept.kv, self.sampler)

    def _forward(self, batch: Batch, tokens: Tensor, watch: PassWatch | None) -> Tensor:
        few = self._few_rows
        if few is not None and watch is None and few.decoder is self.decoder and batch.rows <= MOST_ROWS:
            return few.forward(batch, tokens)
        return self.decoder.forward(batch, tokens, self.state, watch.rows if watch is not None else None)

    def _reported(
        self, played: Played, rows: list[SampleRow | ScoreRow], places: list[int], positions: list[int]
    ) -> list[RowResult]:
        """Of a played pass."""
        assert isinstance(self.sampler, DeviceSampler)
        logits, chosen = played.logits, played.chosen
        if not rows or not len(logits):
            return self._results(played.hidden, None, rows, places, positions, None)
        if not played.of_asked and places != list(range(len(places))):
            at = torch.tensor(places, device=logits.device)
            logits, chosen = logits[at], chosen[at]
        return self.sampler.results(logits[: len(rows)], rows, positions, chosen[: len(rows)])

    def _results(
        self,
        hidden: Tensor,
        normed: Tensor | None,
        rows: list[SampleRow | ScoreRow],
        places: list[int],
        positions: list[int],
        watch: PassWatch | None,
    ) -> list[RowResult]:
        """normed: `hidden` after the final norm, where it is known."""
        results: list[RowResult] = []
        for start in range(0, len(rows), LOGIT_ROWS):
            part = slice(start, start + LOGIT_ROWS)
            kept = self.decoder.normed(hidden[places[part]]) if normed is None else normed[places[part]]
            logits = self.decoder.kernels.logits(kept, self.decoder.head)
            if watch is not None:
                watch.logits(places[part], logits)
            results += self.sampler.results(logits, rows[part], positions[part])
        return results

    def _copy(self, copies: tuple[BlockCopy, ...]) -> None:
        for copy in copies:
            for tensor in self.state.by_block().values():
                tensor[copy.target] = tensor[copy.source]

    def poison(self, blocks: list[int], slots: list[int]) -> None:
        """Fill freed blocks and slots with NaN, so that a test sees any read of what is not owned."""
        for ids, tensors in ((blocks, self.state.by_block()), (slots, self.state.by_slot())):
            for tensor in tensors.values():
                tensor[ids] = float("nan")


def _asked(plan: PassPlan) -> tuple[list[SampleRow | ScoreRow], list[int], list[int]]:
    """What is to be reported, of which rows of the pass, and the positions of the tokens that follow these."""
    rows: list[SampleRow | ScoreRow] = []
    places: list[int] = []
    positions: list[int] = []
    first = 0
    for segment in plan.segments:
        rows += segment.rows
        places += [first + row.offset for row in segment.rows]
        positions += [segment.start + row.offset + 1 for row in segment.rows]
        first += len(segment.tokens)
    return rows, places, positions


def _by_segment(plan: PassPlan, results: list[RowResult]) -> Results:
    rows, start = [], 0
    for segment in plan.segments:
        rows.append(tuple(results[start : start + len(segment.rows)]))
        start += len(segment.rows)
    return tuple(rows)
