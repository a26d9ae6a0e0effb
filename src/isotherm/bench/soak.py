"""Many requests of many kinds on one server, and whether its memory stays flat."""

import asyncio
import json
import random
import statistics
from dataclasses import dataclass
from typing import Any

import httpx

from isotherm.bench.gauges import ENGINE_MEMORY, SERVER_MEMORY, read_gauges
from isotherm.bench.report import Note
from isotherm.bench.workload import Prompts

SAMPLES = 40
ALLOWED_GROWTH = 0.02


@dataclass(frozen=True, slots=True)
class Sample:
    """After so many requests: bytes of the server's process and of the engine's."""

    requests: int
    server: int
    engine: int

    @property
    def total(self) -> int:
        """Of both."""
        return self.server + self.engine


@dataclass(frozen=True, slots=True)
class SoakReport:
    """samples: evenly spaced. failed: requests whose answer did not come to its end. cancelled: those whose client left."""

    requests: int
    failed: int
    cancelled: int
    samples: tuple[Sample, ...]

    @property
    def growth(self) -> float:
        """Median memory of the last quarter of the samples over that of the second quarter, less 1; the first is warm-up."""
        quarter = len(self.samples) // 4
        early = statistics.median(sample.total for sample in self.samples[quarter : 2 * quarter])
        late = statistics.median(sample.total for sample in self.samples[-quarter:])
        return late / early - 1

    @property
    def flat(self) -> bool:
        """Whether memory stayed within what is allowed, and every request was answered."""
        return not self.failed and self.growth <= ALLOWED_GROWTH

    def line(self) -> str:
        """In one sentence."""
        first, last = self.samples[len(self.samples) // 4], self.samples[-1]
        return (
            f"{self.requests} requests, {self.failed} failed, {self.cancelled} left early; memory "
            f"{first.total / 2**20:.0f} MiB after {first.requests}, {last.total / 2**20:.0f} MiB at the end: "
            f"{self.growth:+.2%} ({'flat' if self.flat else 'NOT FLAT'})"
        )

    def to_record(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "schema": 1,
            "requests": self.requests,
            "failed": self.failed,
            "cancelled": self.cancelled,
            "growth": round(self.growth, 5),
            "allowed_growth": ALLOWED_GROWTH,
            "flat": self.flat,
            "samples": [[sample.requests, sample.server, sample.engine] for sample in self.samples],
        }


async def soak(http: httpx.AsyncClient, prompts: Prompts, requests: int, at_once: int, note: Note) -> SoakReport:
    """Send `requests`, a few at once, and read /metrics on the way. Raises BenchError for a server without memory metrics."""
    rng, samples, failed, cancelled = random.Random(prompts.seed), [], 0, 0
    shared = [prompts.next(100 + 40 * i) for i in range(6)]
    every = max(1, requests // SAMPLES)
    for start in range(0, requests, every):
        bodies = [_body(rng, prompts, shared) for _ in range(min(every, requests - start))]
        for leaves, ok in await _send(http, bodies, rng, at_once):
            cancelled += leaves
            failed += not ok
        samples.append(await _sample(http, start + len(bodies)))
        note(f"{samples[-1].requests} of {requests} requests, {samples[-1].total / 2**20:.0f} MiB")
    return SoakReport(requests, failed, cancelled, tuple(samples))


def _body(rng: random.Random, prompts: Prompts, shared: list[list[int]]) -> dict[str, Any]:
    """Shared beginnings and unique ends, greedy and sampled, scored or not."""
    return {
        "prompt": rng.choice((rng.choice(shared), [])) + prompts.next(rng.randint(1, 300)),
        "max_tokens": rng.randint(1, 24),
        "temperature": rng.choice((0, 1)),
        "logprobs": rng.choice((None, 5)),
        "frequency_penalty": rng.choice((0, 0.5)),
        "stream": rng.random() < 0.5,
    }


async def _send(
    http: httpx.AsyncClient, bodies: list[dict[str, Any]], rng: random.Random, at_once: int
) -> list[tuple[bool, bool]]:
    """For each request: whether its client left early, and whether it was answered as it should be."""
    free = asyncio.Semaphore(at_once)

    async def one(body: dict[str, Any], leaves: bool) -> tuple[bool, bool]:
        async with free:
            return leaves, await _answered(http, body, leaves)

    return await asyncio.gather(*(one(body, body["stream"] and rng.random() < 0.2) for body in bodies))


async def _answered(http: httpx.AsyncClient, body: dict[str, Any], leaves: bool) -> bool:
    """Whether the answer came to its end, or to its first event for a client that leaves. A stream may fail after its 200."""
    try:
        async with http.stream("POST", "/v1/completions", json=body) as response:
            if response.status_code != 200:
                return False
            if not body["stream"]:
                return _ends(json.loads(await response.aread()))
            ended = False
            async for line in response.aiter_lines():
                if line.endswith("[DONE]"):
                    return ended
                if line.startswith("data:"):
                    event = json.loads(line.removeprefix("data:"))
                    if "error" in event:
                        return False
                    if leaves:
                        return True
                    ended = ended or _ends(event)
    except (httpx.HTTPError, ValueError):
        return False
    return False


def _ends(record: dict[str, Any]) -> bool:
    return any(choice.get("finish_reason") in ("stop", "length") for choice in record.get("choices") or ())


async def _sample(http: httpx.AsyncClient, requests: int) -> Sample:
    gauges = await read_gauges(http)
    return Sample(requests, int(gauges[SERVER_MEMORY]), int(gauges[ENGINE_MEMORY]))
