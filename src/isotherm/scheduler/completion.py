"""What a pass's results mean for its sequences."""

from isotherm.cache import PrefixCache
from isotherm.core.layout import Layout
from isotherm.core.plan import RowResult, ScoreRow, Segment
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

    def apply(self, sequence: Sequence, segment: Segment, results: tuple[RowResult, ...]) -> Output | None:
        """The output of this segment, if it has any. What it wrote is published first."""
        finite = all(result.finite for result in results)
        advance(self._cache, self._layout, sequence, segment, publish=finite)
        if not finite:
            return self._fail(sequence)
        if sequence.cancelled:
            return self.abort(sequence)
        chosen = _take(sequence, segment, results)
        if chosen is None:
            return None
        sequence.generated.append(chosen.token)
        self._counters.generation_tokens += 1
        ending = self._ending(sequence, chosen.token)
        if ending is not None:
            self._retire(sequence)
        logprobs = () if sequence.request.sampling.logprobs is None else (_logprob(chosen),)
        return sequence.output((chosen.token,), logprobs, ending)

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


def _take(sequence: Sequence, segment: Segment, results: tuple[RowResult, ...]) -> RowResult | None:
    """Gather the prompt's scores; the sampled row, if there is one."""
    chosen = None
    for row, result in zip(segment.rows, results, strict=True):
        if isinstance(row, ScoreRow):
            sequence.scores.append(TokenLogprob(row.token, result.logprob, result.rank, result.top))
        else:
            chosen = result
    return chosen


def _logprob(result: RowResult) -> TokenLogprob:
    return TokenLogprob(result.token, result.logprob, result.rank, result.top)
