"""What a pass's results mean for its sequences."""

from isotherm.cache import PrefixCache
from isotherm.core.layout import Layout
from isotherm.core.plan import RowResult, SampleRow, ScoreRow, Segment
from isotherm.core.request import Output, TokenLogprob
from isotherm.scheduler.counters import Counters
from isotherm.scheduler.holding import advance, discard, leave
from isotherm.scheduler.roster import Roster
from isotherm.scheduler.sequence import Sequence
from isotherm.scheduler.stop import Ending


class Completion:
    """Applies one segment's results: the state moves on, tokens are added, and a sequence that has ended leaves."""

    def __init__(self, cache: PrefixCache, layout: Layout, roster: Roster, counters: Counters, max_model_len: int):
        self._cache = cache
        self._layout = layout
        self._roster = roster
        self._counters = counters
        self._max_model_len = max_model_len

    def apply(
        self, sequence: Sequence, segment: Segment, results: tuple[RowResult, ...], drafts: tuple[int, ...] = ()
    ) -> list[Output]:
        """The outputs of this segment, one a token. What it wrote is published first. drafts: for the tokens to come."""
        scores, chosen = _reported(segment, results)
        finite = all(result.finite for _, result in scores) and all(result.finite for result in chosen)
        good = chosen if finite else chosen[:-1]
        accepted = 0 if sequence.cancelled else max(len(good) - 1, 0)
        advance(self._cache, self._layout, sequence, segment, finite, rejected=segment.drafts - accepted)
        if sequence.cancelled:
            return [self.abort(sequence) if finite else self._fail(sequence)]
        if chosen:
            sequence.acceptance.learn(segment.drafts, accepted)
        if segment.drafts:
            self._counters.drafted(segment.drafts, accepted)
        if finite:
            sequence.scores += [
                TokenLogprob(row.token, result.logprob, result.rank, result.top) for row, result in scores
            ]
        outputs = self._commit(sequence, good)
        if not finite and sequence.is_running:
            outputs.append(self._fail(sequence))
        sequence.drafts = drafts
        return outputs

    def _commit(self, sequence: Sequence, chosen: tuple[RowResult, ...]) -> list[Output]:
        """Add the tokens one by one, to the one that ends the sequence; those after it never were."""
        outputs = []
        for place, result in enumerate(chosen):
            sequence.generated.append(result.token)
            self._counters.generation_tokens += 1
            ending = self._ending(sequence, result.token)
            if ending is not None:
                sequence.computed -= len(chosen) - 1 - place
                self._retire(sequence)
            logprobs = () if sequence.request.sampling.logprobs is None else (_logprob(result),)
            outputs.append(sequence.output((result.token,), logprobs, ending, guessed=place < len(chosen) - 1))
            if ending is not None:
                break
        return outputs

    def abort(self, sequence: Sequence) -> Output:
        """A running sequence that no pass in flight names ends here; what it computed is kept."""
        self._retire(sequence)
        return sequence.output(ending=Ending("abort"))

    def _retire(self, sequence: Sequence) -> None:
        leave(self._cache, self._layout, sequence)
        self._roster.stop(sequence)

    def _fail(self, sequence: Sequence) -> Output:
        discard(self._cache, self._layout, sequence)
        self._roster.stop(sequence)
        if sequence.cancelled:
            return sequence.output(ending=Ending("abort"))
        return sequence.output(ending=Ending("error"), error="the model's logits were not finite for this request")

    def _ending(self, sequence: Sequence, token: int) -> Ending | None:
        stopped = sequence.stop.push(token)
        if stopped is not None:
            return stopped
        full = len(sequence.generated) == sequence.request.sampling.max_tokens or sequence.length >= self._max_model_len
        return Ending("length") if full else None


def _reported(
    segment: Segment, results: tuple[RowResult, ...]
) -> tuple[list[tuple[ScoreRow, RowResult]], tuple[RowResult, ...]]:
    """Scores and choices; a decode and most ends of prompts have one choice and nothing else."""
    if len(results) == 1 and isinstance(segment.rows[0], SampleRow):
        return [], results
    return _scored(segment, results), _chosen(segment, results)


def _scored(segment: Segment, results: tuple[RowResult, ...]) -> list[tuple[ScoreRow, RowResult]]:
    rows = zip(segment.rows, results, strict=True)
    return [(row, result) for row, result in rows if isinstance(row, ScoreRow)]


def _chosen(segment: Segment, results: tuple[RowResult, ...]) -> tuple[RowResult, ...]:
    """What was chosen, in order: as long as each is finite and is the draft that the next row was computed with."""
    sampled = [result for row, result in zip(segment.rows, results, strict=True) if isinstance(row, SampleRow)]
    return tuple(sampled[: segment.accepted(results) + 1])


def _logprob(result: RowResult) -> TokenLogprob:
    return TokenLogprob(result.token, result.logprob, result.rank, result.top)
