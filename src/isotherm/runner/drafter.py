"""The drafter's part of a pass: its own rows for every token, then a few tokens ahead for every sequence that may use them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import torch
from torch import Tensor

from isotherm.core.plan import PassPlan, RowResult, Segment
from isotherm.kernels.api import Kernels
from isotherm.kernels.batch import Batch
from isotherm.kernels.state import IndexedStore, KVStore
from isotherm.model.attention_layer import AttentionLayer
from isotherm.model.decoder import Decoder
from isotherm.model.mtp import AnyMtp, Mtp, read_rows
from isotherm.model.state import DrafterState
from isotherm.runner.ahead import Ahead, after, heads, without_rejected
from isotherm.runner.draft_chain import DraftChain
from isotherm.runner.draft_graphs import DraftGraphs
from isotherm.runner.few_rows import MOST_ROWS, Reads, Recorded, can_record
from isotherm.runner.graphs import Graphs
from isotherm.runner.layout import lay_out
from isotherm.runner.sampler import Sampler

Drafts = tuple[tuple[int, ...], ...]
"""Guesses for the tokens after each segment of a pass."""


class Chain(Protocol):
    """Makes several guesses in a row for some sequences, recorded. state: over which it does."""

    state: DrafterState

    def takes(self, live: Sequence[Ahead]) -> bool:
        """Whether it does for these."""
        ...

    def guesses(
        self, live: Sequence[Ahead], step: int, rows: Tensor, count: int, sampler: Sampler
    ) -> tuple[list[list[int]], Tensor]:
        """`count` guesses for each sequence, and the rows that the last were chosen from, good until the next call.

        rows: the drafter's of the token `step` after each sequence's last one, which is the last known. count: at least 1.
        """
        ...


class Drafter:
    """Its keys and values are in the model's blocks, its hidden rows in the model's lanes and slots.

    Entry j of its attention is built from the model's row at j-1 and token j, so it is a function of tokens 0..j like everything
    else that a block holds; entry 0 has no row before it and is left out. A pass writes the entries of all its rows that stand,
    whatever is drafted. Drafts are chosen as the model would choose, with the noise of their position.
    """

    def __init__(self, mtp: AnyMtp, decoder: Decoder):
        self._mtp = _without_entry_0(mtp)
        self._decoder = decoder
        self._recorded: _Recorded | None = None
        self._graphs: DraftGraphs | None = None
        self._chain: Chain | None = None

    @property
    def reads_normed(self) -> bool:
        """Whether the rows that it reads are those after the model's final norm."""
        return self._mtp.reads_normed

    def record(self, state: DrafterState, lanes: int) -> None:
        """From now on, passes of few rows over `state` are recorded and played where they can be; their results are good until
        the next. lanes: of sequences."""
        if isinstance(self._mtp, Mtp) and Graphs.can_record(self._decoder):
            self._chain = self._graphs = DraftGraphs(self._mtp, self._decoder, state, lanes)
        if can_record(self._decoder.kernels, [*self._decoder.layers, self._mtp.layer]):
            self._recorded = _Recorded(self._mtp, self._decoder, state)
            self._chain = DraftChain(self._mtp, self._decoder, state)

    def reads(self, state: DrafterState) -> Reads | None:
        """What it reads of a pass, to be recorded with the pass; None where it is not recorded, or reads other rows."""
        if self._recorded is None or self._recorded.state is not state or not self.reads_normed:
            return None
        return lambda kernels, batch, hidden: _rows(
            self._mtp, replace(self._decoder, kernels=kernels), batch, hidden, state
        )

    def rows(self, batch: Batch, hidden: Tensor, state: DrafterState) -> tuple[Tensor, Tensor]:
        """hidden [M, hidden] of a pass, before the final norm -> the rows that are read, and of each the one before it."""
        recorded = self._recorded
        if recorded is not None and recorded.state is state and batch.rows <= MOST_ROWS:
            read, before = recorded.rows(batch, hidden)
            return read, before
        return _rows(self._mtp, self._decoder, batch, hidden, state)

    def follow(self, batch: Batch, tokens: Tensor, hidden: Tensor, state: DrafterState) -> None:
        """Write the entries of all rows of a pass, of which no token is a guess."""
        self._forward(batch, self.rows(batch, hidden, state)[1], tokens, state.kv)

    def propose(
        self,
        plan: PassPlan,
        results: Sequence[tuple[RowResult, ...]],
        read: Tensor,
        before: Tensor | None,
        store: KVStore | IndexedStore,
        sampler: Sampler,
    ) -> Drafts:
        """Drafts for each segment of the pass that gave `results`; none where no token was chosen or none may follow.

        read, before: as `rows` gives them. Writes the entries of all rows that stand and of the tokens chosen after them; with
        None for `before`, of the latter alone. store: of its keys and values.
        """
        live = heads(plan, results)
        if before is not None:
            rows = self._entries(plan, results, live, read, before, store)
        elif live:
            rows = self._step(live, 0, read[[ahead.place for ahead in live]], store)
        drafts: list[list[int]] = [[] for _ in plan.segments]
        step = 0
        while live:
            count, rows = self._guess(live, step, rows, store, sampler, drafts)
            step += count
            kept = [place for place, ahead in enumerate(live) if ahead.most > step]
            if kept:
                rows = self._step([live[place] for place in kept], step, rows[kept], store)
            live = [live[place] for place in kept]
        return tuple(tuple(some) for some in drafts)

    def _entries(
        self,
        plan: PassPlan,
        results: Sequence[tuple[RowResult, ...]],
        live: list[Ahead],
        read: Tensor,
        before: Tensor,
        store: KVStore | IndexedStore,
    ) -> Tensor:
        """The entries of the pass's rows that stand and of each live sequence's last token; the rows of the latter."""
        by_index = {ahead.index: ahead for ahead in live}
        segments: list[Segment] = []
        parts: list[Tensor] = []
        wanted: list[int] = []
        first = count = 0
        for index, (segment, rows) in enumerate(zip(plan.segments, results, strict=True)):
            tokens = without_rejected(segment, rows).tokens
            parts.append(before[first : first + len(tokens)])
            ahead = by_index.get(index)
            if ahead is not None:
                tokens = (*tokens, ahead.token)
                parts.append(read[ahead.place : ahead.place + 1])
                wanted.append(count + len(tokens) - 1)
            segments.append(replace(segment, tokens=tokens, writes=(), rows=(), drafts=0))
            first, count = first + len(segment.tokens), count + len(tokens)
        found = self._laid_out(segments, torch.cat(parts), store)
        return found[wanted[0] : wanted[0] + 1] if len(wanted) == 1 else found[wanted]

    def _step(self, live: list[Ahead], step: int, rows: Tensor, store: KVStore | IndexedStore) -> Tensor:
        """The entry of each sequence's last token, which came after `rows`; its row."""
        return self._laid_out([ahead.segment_at(step) for ahead in live], rows, store)

    def _guess(
        self,
        live: list[Ahead],
        step: int,
        rows: Tensor,
        store: KVStore | IndexedStore,
        sampler: Sampler,
        drafts: list[list[int]],
    ) -> tuple[int, Tensor]:
        """The next drafts after each sequence's last token, and the last becomes that. How many, and the rows before it."""
        chain = self._chain
        if chain is None or chain.state.kv is not store or not chain.takes(live):
            self._choose(live, step, rows, sampler, drafts)
            return 1, rows
        count = min(ahead.most for ahead in live) - step
        guesses, rows = chain.guesses(live, step, rows, count, sampler)
        for ahead, tokens in zip(live, guesses, strict=True):
            drafts[ahead.index] += tokens
            ahead.token = tokens[-1]
        return count, rows

    def _choose(self, live: list[Ahead], step: int, rows: Tensor, sampler: Sampler, drafts: list[list[int]]) -> None:
        """The draft after each sequence's last token, which becomes its last."""
        logits = self._mtp.logits(self._decoder.kernels, rows)
        positions = [ahead.position + step + 1 for ahead in live]
        for ahead, token in zip(live, sampler.choices(logits, [ahead.row for ahead in live], positions), strict=True):
            drafts[ahead.index].append(token)
            ahead.token = token
            ahead.row = after(ahead.row, token)

    def _laid_out(self, segments: list[Segment], rows: Tensor, store: KVStore | IndexedStore) -> Tensor:
        graphs = self._graphs
        if graphs is not None and graphs.state.kv is store and (found := graphs.entries(segments, rows)) is not None:
            return found
        batch, tokens = self._decoder.kernels.placed(*lay_out(PassPlan(tuple(segments))))
        return self._forward(batch, rows, tokens, store)

    def _forward(self, batch: Batch, rows: Tensor, tokens: Tensor, store: KVStore | IndexedStore) -> Tensor:
        recorded = self._recorded
        if recorded is not None and recorded.state.kv is store and batch.rows <= MOST_ROWS:
            (found,) = recorded.entries(batch, rows, tokens)
            return found
        return self._mtp.forward(self._decoder.kernels, batch, rows, tokens, store)


class _Recorded:
    """What a drafter does with rows of one state, as played calls."""

    def __init__(self, mtp: AnyMtp, decoder: Decoder, state: DrafterState):
        self.state = state

        def rows(kernels: Kernels, batch: Batch, hidden: Tensor) -> tuple[Tensor, ...]:
            return _rows(mtp, replace(decoder, kernels=kernels), batch, hidden, state)

        def entries(kernels: Kernels, batch: Batch, rows: Tensor, tokens: Tensor) -> tuple[Tensor, ...]:
            return (mtp.forward(kernels, batch, rows, tokens, state.kv),)

        self.rows, self.entries = Recorded(decoder.kernels, rows), Recorded(decoder.kernels, entries)


def _rows(mtp: AnyMtp, decoder: Decoder, batch: Batch, hidden: Tensor, state: DrafterState) -> tuple[Tensor, Tensor]:
    read = read_rows(mtp, decoder, hidden)
    return read, decoder.kernels.shift(batch, read, state.hidden)


def _without_entry_0(mtp: AnyMtp) -> AnyMtp:
    """An attention layer leaves it out by itself; an indexed one by what its store says."""
    if not isinstance(mtp, Mtp):
        return mtp
    mixer = mtp.layer.mixer
    assert isinstance(mixer, AttentionLayer)
    return replace(mtp, layer=replace(mtp.layer, mixer=replace(mixer, skip=1)))
