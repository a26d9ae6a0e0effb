"""What one pass computes: the scheduler writes it, the runner carries it out."""

from collections.abc import Sequence
from dataclasses import dataclass

from isotherm.core.sampling import SamplingParams


@dataclass(frozen=True, slots=True)
class SampleRow:
    """Choose the token that follows the segment's row `offset`.

    history: tokens generated so far, `prompt` the prompt; both empty unless `params.needs_history`.
    allow_stop: False while `min_tokens` forbids ending, when the tokens in `banned` are excluded from the choice.
    """

    offset: int
    params: SamplingParams
    seed: int
    choice: int
    prompt: tuple[int, ...] = ()
    history: tuple[int, ...] = ()
    banned: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """Report the log-probability of `token` after the segment's row `offset`, and the `top` likeliest."""

    offset: int
    token: int
    top: int = 0


@dataclass(frozen=True, slots=True)
class StateWrite:
    """Keep all state and aux state at the block boundary `position` in `slot`."""

    position: int
    slot: int


@dataclass(frozen=True, slots=True)
class Replay:
    """Rows that a restored sequence computes again though the cache holds their keys and values; None in exact mode.

    start: the restored snapshot's position. until: the position at which the replay ends; `start` when there is none.
    rewrites: whether the rows write their keys and values, into private blocks, or leave those of the blocks they found.
    """

    start: int
    until: int
    rewrites: bool

    def touches(self, start: int) -> bool:
        """Whether a segment at `start` is the restored one, or begins with rows of the replay."""
        return start == self.start or start < self.until


@dataclass(frozen=True, slots=True)
class BlockCopy:
    """Before the pass, copy everything in block `source` to block `target`."""

    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Segment:
    """n >= 1 consecutive tokens of one sequence; prefill, decode and verify are all segments.

    sequence: the scheduler's number for the sequence. lane: where its rows since the last boundary are kept.
    start: absolute position of the first token. blocks: block ids of positions 0..start+n, in order.
    state: the slot that holds the state at the last block boundary at or before `start` (ZERO_SLOT at 0).
    writes: ascending boundaries in (start, start+n]; the last boundary that the segment crosses is always among them.
    rows: what to report, ascending by offset. drafts: how many of the last tokens are guesses, each checked by the row before it;
    no boundary lies beyond a guess. ahead: how many guesses for the tokens to come are wanted of the drafter, at most.
    replay: which of its rows are a replay; None in exact mode.
    """

    sequence: int
    lane: int
    start: int
    tokens: tuple[int, ...]
    blocks: tuple[int, ...]
    state: int
    writes: tuple[StateWrite, ...] = ()
    rows: tuple[SampleRow | ScoreRow, ...] = ()
    replay: Replay | None = None
    drafts: int = 0
    ahead: int = 0

    @property
    def end(self) -> int:
        """The position after the segment's last token."""
        return self.start + len(self.tokens)

    def accepted(self, results: Sequence["RowResult"]) -> int:
        """How many of its drafts are what was chosen: the first ones that are, up to one that is not or whose row is not finite.

        results: of `rows`. A segment with drafts ends with one sampled row for its last known token and one for each draft.
        """
        guesses = self.tokens[len(self.tokens) - self.drafts :]
        chosen = results[len(results) - self.drafts - 1 :]
        pairs = enumerate(zip(guesses, chosen, strict=False))
        return next((i for i, (guess, row) in pairs if not row.finite or row.token != guess), self.drafts)


@dataclass(frozen=True, slots=True)
class HostCopies:
    """Whole blocks and slots that change between the device's memory and the host tier's, as pairs of ids (source, target).

    They are carried out before the pass, those out first: an id that one of them reads may be written by one in, or by the pass.
    """

    blocks_out: tuple[tuple[int, int], ...] = ()
    slots_out: tuple[tuple[int, int], ...] = ()
    blocks_in: tuple[tuple[int, int], ...] = ()
    slots_in: tuple[tuple[int, int], ...] = ()


NO_COPIES = HostCopies()


@dataclass(frozen=True, slots=True)
class PassPlan:
    """One forward over a batch of segments, at most one a sequence. host, then copies: carried out first.

    copies: none in exact mode. host: none without a host tier.
    """

    segments: tuple[Segment, ...]
    copies: tuple[BlockCopy, ...] = ()
    host: HostCopies = NO_COPIES

    @property
    def tokens(self) -> int:
        """Rows that the pass computes."""
        return sum(len(segment.tokens) for segment in self.segments)


@dataclass(frozen=True, slots=True)
class RowResult:
    """The answer to one SampleRow or ScoreRow. `finite` is False when the row's logits were not: the token means nothing.

    logprob, rank and top are of the raw logits; sampled rows carry them only when the request asked for log-probabilities.
    """

    token: int
    logprob: float = 0.0
    rank: int = 0
    top: tuple[tuple[int, float], ...] = ()
    finite: bool = True


@dataclass(frozen=True, slots=True)
class PassResult:
    """Row results, a tuple a segment in the plan's order. drafts: guesses for the tokens after each, where there is a drafter."""

    rows: tuple[tuple[RowResult, ...], ...]
    drafts: tuple[tuple[int, ...], ...] = ()
