"""A drafter as engines have it that cache the model's state and not the drafter's: its context is the live sequence's own."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import torch
from torch import Tensor

from isotherm.core.plan import PassPlan, Replay
from isotherm.kernels.api import Kernels
from isotherm.kernels.batch import Batch
from isotherm.kernels.segments import SegmentView, one_segment, segment_views
from isotherm.kernels.state import KVShape, KVStore
from isotherm.model.mtp import Mtp
from isotherm.native import attention
from isotherm.native.hidden_rows import HiddenRows, Piece, before
from isotherm.native.kernels import NativeKernels
from isotherm.native.lane_blocks import LaneBlocks


@dataclass(slots=True)
class Context:
    """What the drafter has of the sequence in a lane.

    first: its first entry that counts; the one before it has no row before it. pieces: the model's rows, of all positions where
    an anchor is kept, else the last ones, of which rejected drafts may leave one.
    """

    first: int = 1
    pieces: list[Piece] = field(default_factory=list)


class DrafterKernels(NativeKernels):
    """Native kernels whose attention begins at each lane's first entry."""

    def __init__(self, threads: int, contexts: dict[int, Context]):
        super().__init__(threads)
        self._contexts = contexts

    def attention(self, batch: Batch, q: Tensor, store: KVStore, scale: float, skip: int = 0) -> Tensor:
        """See Kernels.attention; `skip` is the lane's own."""
        firsts = [self._contexts[lane].first for lane in batch.lanes.tolist()]
        return attention.attention_from(batch, q, store, scale, firsts)


class DrafterContext:
    """Owns the drafter's keys and values and the rows that it reads, lane by lane.

    As in exact mode, entry j is built from the model's row j-1 and token j. A sequence that goes on from a snapshot has nothing
    of what was skipped: its entries begin after the snapshot, and its drafter sees a short context. With an anchor the rows of
    the skipped positions come with the snapshot, and the entries are computed again, in the pieces in which they first were.
    """

    def __init__(self, mtp: Mtp, shape: KVShape, threads: int, most: int, anchor: HiddenRows | None):
        self._mtp = mtp
        self._most = most
        self._anchor = anchor
        self._contexts: dict[int, Context] = {}
        self._blocks = LaneBlocks(shape)
        self.kernels = cast(Kernels, DrafterKernels(threads, self._contexts))

    @property
    def store(self) -> KVStore:
        """The drafter's keys and values, at this moment."""
        return self._blocks.store

    def follow(self, batch: Batch, tokens: Tensor, rows: Tensor) -> None:
        """Write the entries of a pass's rows [M, hidden], which are after the model's final norm; tokens [M]."""
        views = list(segment_views(batch))
        for view, replay in zip(views, batch.replays or (None,) * len(views), strict=True):
            if view.start == 0 or _restores(view, replay):
                self._begin(view)
            else:
                context = self._contexts[view.lane]
                context.pieces = before(context.pieces, view.start)
        own = [rows[view.row : view.row + view.end - view.start] for view in views]
        shifted = [_shifted(self._contexts[view.lane].pieces, part) for view, part in zip(views, own, strict=True)]
        self._write(self._placed(batch, views), torch.cat(shifted), tokens)
        for view, part in zip(views, own, strict=True):
            self._append(view, tokens[view.row : view.row + view.end - view.start], part)

    def placed(self, plan: PassPlan) -> PassPlan:
        """The plan with the drafter's own blocks in place of the model's, and room in them for drafts."""
        tables = (self._blocks.cover(segment.lane, segment.end + self._most) for segment in plan.segments)
        return PassPlan(
            tuple(replace(segment, blocks=table) for segment, table in zip(plan.segments, tables, strict=True))
        )

    def _begin(self, view: SegmentView) -> None:
        pieces = self._anchor.take(view.state) if self._anchor is not None and view.start else ()
        self._contexts[view.lane] = Context(first=1 if pieces else view.start + 1)
        self._blocks.begin(view.lane)
        for piece in pieces:
            done = self._contexts[view.lane].pieces
            batch = replace(one_segment(piece.start, len(piece.rows)), lanes=torch.tensor([view.lane]))
            self._write(self._placed(batch, list(segment_views(batch))), _shifted(done, piece.rows), piece.tokens)
            done.append(piece)

    def _append(self, view: SegmentView, tokens: Tensor, rows: Tensor) -> None:
        context, piece = self._contexts[view.lane], Piece(view.start, tokens, rows)
        if self._anchor is None:
            context.pieces = [piece.since(view.end - 1 - self._most)]
            return
        context.pieces.append(piece.since(view.start))
        if context.pieces[0].start == 0:
            for boundary, slot in view.writes:
                self._anchor.keep(slot, before(context.pieces, boundary))

    def _placed(self, batch: Batch, views: list[SegmentView]) -> Batch:
        tables = [self._blocks.cover(view.lane, view.end) for view in views]
        offsets = [0]
        for table in tables:
            offsets.append(offsets[-1] + len(table))
        blocks = torch.tensor([block for table in tables for block in table], dtype=torch.int32)
        return replace(
            batch, blocks=blocks, block_offsets=torch.tensor(offsets, dtype=torch.int32), replays=None, drafts=None
        )

    def _write(self, batch: Batch, rows_before: Tensor, tokens: Tensor) -> None:
        self._mtp.forward(self.kernels, batch, rows_before, tokens, self._blocks.store)


def _restores(view: SegmentView, replay: Replay | None) -> bool:
    return replay is not None and replay.start == view.start


def _shifted(pieces: Sequence[Piece], rows: Tensor) -> Tensor:
    """Each row's predecessor [n, hidden]; zeros where there is none."""
    last = pieces[-1].rows[-1:] if pieces else torch.zeros_like(rows[:1])
    return torch.cat((last, rows[:-1]))
