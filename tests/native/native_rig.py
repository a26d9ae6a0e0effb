"""Scheduler and native cache without a model: the next token is a function of the last, and plans are kept."""

from dataclasses import dataclass, field

from isotherm.core.config import SchedulerConfig
from isotherm.core.numerics import NativeConfig
from isotherm.core.plan import PassPlan, PassResult, RowResult, SampleRow
from isotherm.core.request import Output, Request
from isotherm.core.sampling import SamplingParams
from isotherm.core.vocabulary import Vocabulary
from isotherm.native.layout import NativeLayout
from isotherm.native.prefix import NativePrefixCache
from isotherm.scheduler import Scheduler

SIZE = 97


@dataclass
class Rig:
    """One engine without a model, checked after every step. held: by block and place in it, the (position, token) there."""

    native: NativeConfig
    budget: int = 4096
    blocks: int = 200
    slots: int = 60
    seqs: int = 4
    plans: list[PassPlan] = field(default_factory=list)
    first: dict[str, Output] = field(default_factory=dict)

    def __post_init__(self) -> None:
        layout = NativeLayout(1024, self.native)
        self.cache = NativePrefixCache(layout, self.blocks, self.slots)
        vocabulary = Vocabulary(tuple(bytes([i]) for i in range(SIZE)), frozenset(), (SIZE - 1,))
        limits = SchedulerConfig(self.seqs, self.budget)
        self.scheduler = Scheduler(limits, self.cache, layout, vocabulary, 2048)
        self.held: dict[int, dict[int, tuple[int, ...]]] = {}

    def run(self, name: str, prompt: tuple[int, ...], max_tokens: int = 1, hint: int = 0) -> Output:
        """One request to its end; its first output."""
        self.add(name, prompt, max_tokens, hint)
        while self.scheduler.has_work:
            self.step()
        return self.first[name]

    def add(self, name: str, prompt: tuple[int, ...], max_tokens: int = 1, hint: int = 0) -> None:
        params = SamplingParams(temperature=0.0, max_tokens=max_tokens, ignore_eos=True)
        self.scheduler.add(Request(name, prompt, params, hint=hint))

    def step(self) -> None:
        plan = self.scheduler.schedule()
        self.scheduler.check()
        if plan is None:
            outputs = self.scheduler.idle()
        else:
            self.plans.append(plan)
            self._carry_out(plan)
            rows = tuple(
                tuple(RowResult(_next(segment.tokens)) for row in segment.rows if isinstance(row, SampleRow))
                for segment in plan.segments
            )
            outputs = self.scheduler.complete(plan, PassResult(rows))
        self.scheduler.check()
        for output in outputs:
            self.first.setdefault(output.request_id, output)

    def _carry_out(self, plan: PassPlan) -> None:
        """Copies first, then each row into its place, unless it is a replay that does not write; all must be there then."""
        for copy in plan.copies:
            self.held[copy.target] = dict(self.held[copy.source])
        for segment in plan.segments:
            for offset, token in enumerate(segment.tokens):
                position = segment.start + offset
                replay = segment.replay
                if replay is None or replay.rewrites or position >= replay.until:
                    self.held.setdefault(segment.blocks[position // 64], {})[position % 64] = (position, token)
                found = self.held.get(segment.blocks[position // 64], {}).get(position % 64)
                assert found == (position, token), f"position {position} of sequence {segment.sequence} is not held"


def _next(tokens: tuple[int, ...]) -> int:
    return (tokens[-1] * 31 + 7) % (SIZE - 1)


def words(count: int, seed: int = 0) -> tuple[int, ...]:
    """Tokens that depend on the seed."""
    return tuple((seed * 41 + i * i + 3 * i) % (SIZE - 1) for i in range(count))
