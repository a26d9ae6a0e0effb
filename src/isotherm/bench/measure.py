"""Measuring a workload on a server that is up."""

from dataclasses import asdict

from isotherm.bench.client import BenchClient
from isotherm.bench.report import BenchReport, Figure, LengthFigures, Note
from isotherm.bench.workload import Prompts, Workload


async def measure(client: BenchClient, workload: Workload, prompts: Prompts, note: Note) -> BenchReport:
    """Every figure of the workload, long prompts last, so that they do not disturb the others. Raises BenchError."""
    note("warming up")
    await client.complete(prompts.next(600), 4)
    decode = await _decode(client, workload, prompts, note)
    batches = {count: await _batch(client, workload, prompts, count, note) for count in workload.concurrency}
    lengths = tuple([await _length(client, workload, prompts, length, note) for length in sorted(workload.lengths)])
    return BenchReport(client.model, client.base_url, asdict(workload), lengths, decode, batches, client.ignores_eos)


async def _decode(client: BenchClient, workload: Workload, prompts: Prompts, note: Note) -> Figure:
    rates = []
    for _ in range(workload.repeats):
        note(f"decode: {workload.decode_new} tokens after {workload.decode_prompt}")
        timing = await client.complete(prompts.next(workload.decode_prompt), workload.decode_new)
        rates.append((timing.new - 1) / timing.rest_s if timing.rest_s else 0.0)
    return Figure(tuple(rates))


async def _batch(client: BenchClient, workload: Workload, prompts: Prompts, count: int, note: Note) -> Figure:
    rates = []
    for _ in range(workload.repeats):
        note(f"{count} at once: {workload.batch_prompt} + {workload.batch_new} tokens each")
        many = [prompts.next(workload.batch_prompt) for _ in range(count)]
        seconds, timings = await client.together(many, workload.batch_new)
        rates.append(sum(timing.new for timing in timings) / seconds)
    return Figure(tuple(rates))


async def _length(client: BenchClient, workload: Workload, prompts: Prompts, length: int, note: Note) -> LengthFigures:
    """A cold prompt, then twice more with another tail, and all of that `repeats` times."""
    cold, warm = [], []
    for _ in range(workload.repeats):
        note(f"time to first token: {length} tokens, cold and warm")
        prompt = prompts.next(length)
        cold.append(await client.complete(prompt, 1))
        warm += [await client.complete(prompts.with_new_tail(prompt), 1) for _ in range(2)]
    return LengthFigures(
        prompt=length,
        cold_s=Figure(tuple(timing.first_s for timing in cold)),
        warm_s=Figure(tuple(timing.first_s for timing in warm)),
        prefill=Figure(tuple(length / timing.first_s for timing in cold)),
        cached=tuple(timing.cached for timing in warm),
    )
