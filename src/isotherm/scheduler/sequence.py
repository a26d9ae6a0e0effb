"""A request on its way: mutable, owned by the scheduler."""

from isotherm.cache import Hit, Namespace, Place
from isotherm.core.constants import BLOCK, NULL_BLOCK, ZERO_SLOT
from isotherm.core.plan import BlockCopy, Replay, SampleRow
from isotherm.core.request import Output, Request, TokenLogprob
from isotherm.core.vocabulary import Vocabulary
from isotherm.scheduler.acceptance import Acceptance
from isotherm.scheduler.stop import Ending, StopMatcher


class Sequence:
    """The tokens of one request, how far they are computed, and what it holds while it runs.

    number: order of arrival; it is kept through preemption. computed: tokens that went through a pass.
    While running: lane; blocks of positions 0.., in order, of which those before `place` are published; slot, the state at
    block_floor(computed). All three are given back when it leaves.

        0 ......... place ............ block_floor(computed) ...... computed ........... length
        | published | written, private | rows kept in the lane       | not computed yet   |

    drafts: guesses for the tokens after the last one. acceptance: how often they were right.
    points: boundaries of its prompt at which a snapshot is wanted.
    scores: log-probabilities of prompt[1:], gathered so far.
    replay, borrowed: its hit's, None and NULL_BLOCK in exact mode; `borrowed` is held until it has been copied.
    shadowed: blocks of the tree on the way to `place` that it holds and does not use; none in exact mode.
    prompt_length: N. usual: how its next token is chosen when nothing but its position matters.
    """

    __slots__ = (
        "acceptance",
        "blocks",
        "borrowed",
        "cancelled",
        "computed",
        "drafts",
        "first_hit",
        "generated",
        "lane",
        "namespace",
        "number",
        "place",
        "points",
        "prompt_length",
        "replay",
        "reported",
        "request",
        "scores",
        "shadowed",
        "slot",
        "stop",
        "usual",
    )

    def __init__(self, number: int, request: Request, vocabulary: Vocabulary):
        self.number = number
        self.request = request
        self.prompt_length = len(request.prompt)
        self.usual = SampleRow(0, request.sampling, request.seed, request.choice)
        self.namespace = Namespace("", request.cache_salt)
        self.stop = StopMatcher(request.sampling, vocabulary)
        self.generated: list[int] = []
        self.scores: list[TokenLogprob] = []
        self.acceptance = Acceptance()
        self.first_hit: Hit | None = None
        self.reported = False
        self.cancelled = False
        self.lane = -1
        self.clear()

    def clear(self) -> None:
        """Nothing is computed and nothing held: as it arrives, and after it has left. (The lane is the roster's.)"""
        self.computed = 0
        self.blocks: tuple[int, ...] = ()
        self.slot = ZERO_SLOT
        self.place = Place(self.namespace)
        self.points: tuple[int, ...] = ()
        self.replay: Replay | None = None
        self.borrowed = NULL_BLOCK
        self.drafts: tuple[int, ...] = ()
        self.shadowed: tuple[int, ...] = ()

    @property
    def length(self) -> int:
        """Tokens known: prompt and generated."""
        return self.prompt_length + len(self.generated)

    @property
    def remaining(self) -> int:
        """Known tokens that are not computed; at least 1 while it runs."""
        return self.prompt_length + len(self.generated) - self.computed

    @property
    def copy(self) -> BlockCopy | None:
        """The copy that is due, now that there is a block to copy to."""
        if self.replay is None or self.borrowed == NULL_BLOCK:
            return None
        place = self.replay.until // BLOCK
        return BlockCopy(self.borrowed, self.blocks[place]) if place < len(self.blocks) else None

    @property
    def is_running(self) -> bool:
        """Whether it has a lane."""
        return self.lane >= 0

    @property
    def wants_scores(self) -> bool:
        """Whether log-probabilities of its prompt are still to be gathered."""
        return self.request.sampling.prompt_logprobs is not None and len(self.scores) < self.prompt_length - 1

    def tokens(self, start: int, end: int) -> tuple[int, ...]:
        """Known tokens at positions start..end."""
        prompt, before = self.request.prompt, self.prompt_length
        if start >= before:
            return tuple(self.generated[start - before : end - before])
        if end <= before:
            return prompt[start:end]
        return prompt[start:] + tuple(self.generated[: end - before])

    def output(
        self,
        tokens: tuple[int, ...] = (),
        logprobs: tuple[TokenLogprob, ...] = (),
        ending: Ending | None = None,
        error: str | None = None,
        guessed: bool = False,
    ) -> Output:
        """What to tell the caller; the first one also says what the cache spared, and the prompt's log-probabilities."""
        first, self.reported = not self.reported, True
        hit = self.first_hit
        scored = first and self.request.sampling.prompt_logprobs is not None and not self.wants_scores
        return Output(
            request_id=self.request.id,
            tokens=tokens,
            logprobs=logprobs,
            prompt_logprobs=tuple(self.scores) if scored else None,
            cached_tokens=(hit.tokens if hit else 0) if first else None,
            matched_tokens=(hit.matched if hit else 0) if first else None,
            guessed=guessed,
            finish_reason=ending.finish_reason if ending else None,
            stop_reason=ending.stop_reason if ending else None,
            error=error,
        )
