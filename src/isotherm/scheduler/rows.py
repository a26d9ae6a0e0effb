"""Which rows of a segment report something."""

from dataclasses import replace

from isotherm.core.plan import SampleRow, ScoreRow
from isotherm.scheduler.sequence import Sequence


def rows_for(sequence: Sequence, end: int, drafts: tuple[int, ...] = ()) -> tuple[SampleRow | ScoreRow, ...]:
    """Rows of the segment from `sequence.computed` to `end`, and one for each of the drafts that follow.

    A prompt's row i scores prompt[i+1], once, when that was asked for. Only the row of the last known token samples: tokens
    that are computed again after a preemption have been chosen already.
    """
    scores = _scores(sequence, end) if sequence.wants_scores else ()
    if end < sequence.length:
        return scores
    if not drafts:
        return (*scores, _sample(sequence, ()))
    return (*scores, *(_sample(sequence, drafts[:count]) for count in range(len(drafts) + 1)))


def _scores(sequence: Sequence, end: int) -> tuple[ScoreRow, ...]:
    prompt, start = sequence.request.prompt, sequence.computed
    top = sequence.request.sampling.prompt_logprobs or 0
    rows = range(max(start, len(sequence.scores)), min(end, len(prompt) - 1))
    return tuple(ScoreRow(row - start, prompt[row + 1], top) for row in rows)


def _sample(sequence: Sequence, drafts: tuple[int, ...]) -> SampleRow:
    """The choice after these drafts, as if they were committed."""
    request, usual = sequence.request, sequence.usual
    params, offset, banned = (
        request.sampling,
        sequence.remaining - 1 + len(drafts),
        sequence.stop.banned_after(len(drafts)),
    )
    if not params.needs_history:
        return replace(usual, offset=offset, banned=banned) if offset or banned else usual
    return replace(usual, offset=offset, prompt=request.prompt, history=(*sequence.generated, *drafts), banned=banned)
