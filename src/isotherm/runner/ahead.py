"""Which sequences of a pass are drafted for, and from where: what was chosen in the pass, and what of its drafts stands."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from isotherm.core.constants import BLOCK, draft_room
from isotherm.core.plan import PassPlan, RowResult, SampleRow, Segment


@dataclass(slots=True)
class Ahead:
    """One sequence that is drafted for. index: its segment's place in the pass. place: the row of the pass before its last token.

    position: of that last token. row: how the token after it would be chosen. most: drafts that may follow.
    """

    index: int
    segment: Segment
    place: int
    position: int
    token: int
    row: SampleRow
    most: int

    def segment_at(self, step: int) -> Segment:
        """The one row `step` positions after it; the drafter reads no state and writes none."""
        return replace(self.segment, start=self.position + step, tokens=(self.token,), writes=(), rows=(), drafts=0)


def without_rejected(segment: Segment, rows: Sequence[RowResult]) -> Segment:
    """The segment as if it had been planned without the drafts that were not what was chosen."""
    rejected = segment.drafts - segment.accepted(rows)
    if not rejected:
        return segment
    tokens, asked = segment.tokens[:-rejected], segment.rows[:-rejected]
    return replace(segment, tokens=tokens, rows=asked, drafts=segment.drafts - rejected)


def heads(plan: PassPlan, results: Sequence[tuple[RowResult, ...]]) -> list[Ahead]:
    """The sequences of a pass that may be drafted for."""
    live, first = [], 0
    for index, (segment, rows) in enumerate(zip(plan.segments, results, strict=True)):
        ahead = _ahead(index, segment, rows, first) if segment.ahead else None
        if ahead is not None and ahead.most > 0:
            live.append(ahead)
        first += len(segment.tokens)
    return live


def _ahead(index: int, segment: Segment, results: tuple[RowResult, ...], first: int) -> Ahead | None:
    if not segment.rows or not isinstance(segment.rows[-1], SampleRow):
        return None
    at = len(segment.rows) - segment.drafts - 1 + segment.accepted(results)
    row, result = segment.rows[at], results[at]
    assert isinstance(row, SampleRow)
    if not all(one.finite for one in results[: at + 1]):
        return None
    position = segment.start + row.offset + 1
    most = min(segment.ahead, draft_room(position), BLOCK * len(segment.blocks) - position)
    return Ahead(index, segment, first + row.offset, position, result.token, after(row, result.token), most)


def after(row: SampleRow, token: int) -> SampleRow:
    """How the next token would be chosen, were `token` committed."""
    return replace(row, history=(*row.history, token)) if row.params.needs_history else row
