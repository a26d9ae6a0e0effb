"""Scheduler, cache and fake runner together, checked after every step."""

from collections.abc import Callable, Iterable

from fake_runner import FakeRunner, letters

from isotherm.cache import PrefixCache, TieredPrefixCache
from isotherm.core.config import SchedulerConfig
from isotherm.core.layout import Layout
from isotherm.core.plan import PassPlan
from isotherm.core.request import Output, Request
from isotherm.core.sampling import SamplingParams
from isotherm.scheduler import Scheduler


class Rig:
    """One engine without a model. `outputs` gathers everything that was handed out, by request."""

    def __init__(
        self,
        blocks: int = 200,
        slots: int = 40,
        budget: int = 256,
        seqs: int = 4,
        caching: bool = True,
        max_model_len: int = 1024,
        layout: Layout | None = None,
        waiting: int = 1024,
        block_hash: Callable[[tuple[int, ...]], int] = hash,
        host: tuple[int, int] | None = None,
    ):
        self.runner = FakeRunner()
        self.cache: PrefixCache
        if host is None:
            self.cache = PrefixCache(blocks, slots, enabled=caching, observer=self.runner, block_hash=block_hash)
        else:
            self.cache = TieredPrefixCache(
                blocks, slots, *host, enabled=caching, observer=self.runner, block_hash=block_hash
            )
        config = SchedulerConfig(max_num_seqs=seqs, max_num_batched_tokens=budget, max_waiting=waiting)
        layout = layout or Layout(snapshot_interval=256)
        self.scheduler = Scheduler(config, self.cache, layout, letters(), max_model_len)
        self.outputs: dict[str, list[Output]] = {}
        self.plans: list[PassPlan] = []

    def add(self, *requests: Request) -> None:
        for request in requests:
            self.outputs[request.id] = []
            self.scheduler.add(request)
            self.scheduler.check()

    def step(self, in_flight: Callable[[], None] | None = None) -> None:
        """One pass. `in_flight` is called between planning and completion."""
        plan = self.scheduler.schedule()
        self.scheduler.check()
        if plan is None:
            self._gather(self.scheduler.idle())
            return
        self.plans.append(plan)
        result = self.runner.run(plan)
        if in_flight is not None:
            in_flight()
            self.scheduler.check()
        self._gather(self.scheduler.complete(plan, result))
        self.scheduler.check()

    def run(self, *requests: Request, limit: int = 5000) -> None:
        """Add requests and step until nothing is left to do."""
        self.add(*requests)
        for _ in range(limit):
            if not self.scheduler.has_work:
                return
            self.step()
        raise AssertionError("the scheduler does not come to an end")

    def tokens(self, name: str) -> tuple[int, ...]:
        return tuple(token for output in self.outputs[name] for token in output.tokens)

    def finish(self, name: str) -> str | None:
        return self.outputs[name][-1].finish_reason

    def cached(self, name: str) -> int | None:
        return self.outputs[name][0].cached_tokens

    def answer(self, name: str) -> tuple[object, ...]:
        """All that must not depend on how it was computed."""
        outputs = self.outputs[name]
        logprobs = tuple(entry for output in outputs for entry in output.logprobs)
        last = outputs[-1]
        return self.tokens(name), logprobs, outputs[0].prompt_logprobs, last.finish_reason, last.stop_reason

    def _gather(self, outputs: Iterable[Output]) -> None:
        for output in outputs:
            seen = self.outputs[output.request_id]
            assert not seen or seen[-1].finish_reason is None, "an output after the last"
            assert (output.cached_tokens is not None) == (not seen), "cached_tokens is reported once, first"
            seen.append(output)


def alone(request: Request, **settings: object) -> tuple[object, ...]:
    """The answer to a request alone on a fresh engine, caching off."""
    rig = Rig(**{"caching": False, "budget": 4096, **settings})  # type: ignore[arg-type]
    rig.run(request)
    return rig.answer(request.id)


def request(name: str, prompt: Iterable[int], max_tokens: int | None = 4, **rest: object) -> Request:
    """A request for the fake runner; fields of Request and of SamplingParams by name."""
    own = {key: rest.pop(key) for key in list(rest) if key in Request.__dataclass_fields__}
    sampling = SamplingParams(**{"max_tokens": max_tokens, "ignore_eos": True, **rest})  # type: ignore[arg-type]
    return Request(id=name, prompt=tuple(prompt), sampling=sampling, **own)  # type: ignore[arg-type]


def words(count: int, seed: int = 0) -> tuple[int, ...]:
    """`count` tokens that look random and depend on the seed; no special ones."""
    state, found = seed * 7919 + 12345, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        found.append(state // 65536 % 45)
    return tuple(found)
