"""The drafter's part of a pass: its own rows for every token, then a few tokens ahead for every sequence that may use them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from isotherm.core.constants import BLOCK, draft_room
from isotherm.core.plan import PassPlan, RowResult, SampleRow, Segment
from isotherm.kernels.batch import Batch
from isotherm.model.attention_layer import AttentionLayer
from isotherm.model.decoder import Decoder
from isotherm.model.mtp import Mtp
from isotherm.model.state import DrafterState
from isotherm.runner.layout import lay_out
from isotherm.runner.sampler import Sampler


@dataclass(slots=True)
class Ahead:
    """One sequence that is drafted for. place: the row of the pass whose hidden row comes before its last token.

    position: of that last token. row: how the token after it would be chosen. most: drafts that may follow.
    """

    segment: Segment
    place: int
    position: int
    token: int
    row: SampleRow
    most: int

    def segment_at(self, step: int) -> Segment:
        """The one row `step` positions after it; the drafter reads no state and writes none."""
        return replace(self.segment, start=self.position + step, tokens=(self.token,), writes=(), rows=(), drafts=0)


class Drafter:
    """Owns nothing: its keys and values are in the model's blocks, its hidden rows in the model's lanes and slots.

    Entry j of its attention is built from the model's row at j-1 and token j, so it is a function of tokens 0..j like everything
    else that a block holds; entry 0 has no row before it and is left out. A pass writes the entries of all its rows, whatever is
    drafted. Drafts are chosen as the model would choose, with the noise of their position.
    """

    def __init__(self, mtp: Mtp, decoder: Decoder, most: int):
        mixer = mtp.layer.mixer
        assert isinstance(mixer, AttentionLayer)
        self._mtp = replace(mtp, layer=replace(mtp.layer, mixer=replace(mixer, skip=1)))
        self._decoder = decoder
        self._most = most

    def follow(self, batch: Batch, tokens: Tensor, hidden: Tensor, state: DrafterState) -> Tensor:
        """Write the entries of a pass's rows. hidden [M, hidden], before the final norm -> the same rows after it."""
        normed = self._decoder.normed(hidden)
        before = self._decoder.kernels.shift(batch, normed, state.hidden)
        self._mtp.forward(self._decoder.kernels, batch, before, tokens, state.kv)
        return normed

    def propose(
        self,
        plan: PassPlan,
        results: Sequence[tuple[RowResult, ...]],
        normed: Tensor,
        state: DrafterState,
        sampler: Sampler,
    ) -> tuple[tuple[int, ...], ...]:
        """Drafts for each segment of the pass that gave `results`; none where no token was chosen or none may follow."""
        drafts: list[list[int]] = [[] for _ in plan.segments]
        live = []
        first = 0
        for index, segment in enumerate(plan.segments):
            ahead = _ahead(segment, results[index], first, self._most)
            first += len(segment.tokens)
            if ahead is not None and ahead.most > 0:
                live.append((index, ahead))
        rows = normed[[ahead.place for _, ahead in live]]
        for step in range(self._most):
            kept = [place for place, (_, ahead) in enumerate(live) if ahead.most > step]
            if not kept:
                break
            live, rows = [live[place] for place in kept], rows[kept]
            rows, chosen = self._step(live, rows, step, state, sampler)
            for (index, ahead), token in zip(live, chosen, strict=True):
                drafts[index].append(token)
                ahead.token = token
                ahead.row = _after(ahead.row, token)
        return tuple(tuple(some) for some in drafts)

    def _step(
        self, live: list[tuple[int, Ahead]], rows: Tensor, step: int, state: DrafterState, sampler: Sampler
    ) -> tuple[Tensor, list[int]]:
        """The entry of each sequence's last token, and the draft after it."""
        kernels = self._decoder.kernels
        batch, tokens = lay_out(PassPlan(tuple(ahead.segment_at(step) for _, ahead in live)))
        rows = self._mtp.forward(kernels, batch, rows, tokens, state.kv)
        positions = [ahead.position + step + 1 for _, ahead in live]
        results = sampler.choices(self._mtp.logits(kernels, rows), [ahead.row for _, ahead in live], positions)
        return rows, results


def without_rejected(segment: Segment, rows: Sequence[RowResult]) -> Segment:
    """The segment as if it had been planned without the drafts that were not what was chosen."""
    rejected = segment.drafts - segment.accepted(rows)
    if not rejected:
        return segment
    tokens, asked = segment.tokens[:-rejected], segment.rows[:-rejected]
    return replace(segment, tokens=tokens, rows=asked, drafts=segment.drafts - rejected)


def _ahead(segment: Segment, results: tuple[RowResult, ...], first: int, most: int) -> Ahead | None:
    if not segment.rows or not isinstance(segment.rows[-1], SampleRow):
        return None
    at = len(segment.rows) - segment.drafts - 1 + segment.accepted(results)
    row, result = segment.rows[at], results[at]
    assert isinstance(row, SampleRow)
    if not all(one.finite for one in results[: at + 1]):
        return None
    position = segment.start + row.offset + 1
    room = draft_room(position) if len(segment.blocks) > position // BLOCK else 0
    return Ahead(segment, first + row.offset, position, result.token, _after(row, result.token), min(most, room))


def _after(row: SampleRow, token: int) -> SampleRow:
    """How the next token would be chosen, were `token` committed."""
    return replace(row, history=(*row.history, token)) if row.params.needs_history else row
