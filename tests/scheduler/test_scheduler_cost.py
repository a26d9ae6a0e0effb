"""Planning is incremental: counted in operations, so that the machine does not matter."""

from fake_runner import letters
from rig import request, words

from isotherm.cache import PrefixCache
from isotherm.core.config import SchedulerConfig
from isotherm.core.layout import Layout
from isotherm.core.plan import PassPlan, PassResult, RowResult
from isotherm.scheduler import Scheduler

LENGTH = 100_000


class Count:
    """A block hash that counts how often it is asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, tokens: tuple[int, ...]) -> int:
        self.calls += 1
        return hash(tokens)


def build(count: Count) -> Scheduler:
    cache = PrefixCache(4000, 200, block_hash=count)
    return Scheduler(SchedulerConfig(), cache, Layout(), letters(), LENGTH + 5000)


def run(scheduler: Scheduler, passes: int) -> list[PassPlan]:
    plans = []
    for _ in range(passes):
        plan = scheduler.schedule()
        assert plan is not None
        plans.append(plan)
        rows = tuple(tuple(RowResult(token=1) for _ in segment.rows) for segment in plan.segments)
        scheduler.complete(plan, PassResult(rows))
    return plans


def test_each_block_of_a_long_prompt_is_hashed_a_few_times_however_many_passes_it_takes() -> None:
    count = Count()
    scheduler = build(count)
    scheduler.add(request("a", words(LENGTH), max_tokens=3))
    run(scheduler, 51)
    assert scheduler.stats().running == 0
    assert count.calls < 3 * LENGTH / 64


def test_a_decode_step_neither_hashes_nor_copies_the_block_table() -> None:
    count = Count()
    scheduler = build(count)
    scheduler.add(request("a", words(LENGTH - 20), max_tokens=200))
    run(scheduler, 50)
    before = count.calls
    plans = run(scheduler, 100)
    assert count.calls == before
    tables = [plan.segments[0].blocks for plan in plans]
    assert len({id(table) for table in tables}) <= 3, "the table is a new tuple only when it grows"


def test_a_long_prompt_that_has_to_wait_is_not_looked_up_at_every_pass() -> None:
    count = Count()
    cache = PrefixCache(1700, 200, block_hash=count)
    scheduler = Scheduler(SchedulerConfig(), cache, Layout(), letters(), LENGTH + 5000)
    scheduler.add(request("planted", words(64_000), max_tokens=2000))
    scheduler.add(request("beside", words(20_000, 1), max_tokens=2000))
    run(scheduler, 50)
    scheduler.add(request("waits", words(64_000) + words(36_000, 2)))
    before = count.calls
    run(scheduler, 100)
    assert (scheduler.stats().running, scheduler.stats().waiting) == (2, 1)
    assert count.calls - before < 10 * LENGTH / 64
