"""Clients that connect and vanish at every stage of a request, and whether the server is what it was afterwards."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx

from isotherm.bench.client import BenchError
from isotherm.bench.gauges import ENGINE_MEMORY, OPEN_FILES, RUNNING, SERVER_MEMORY, WAITING, read_gauges
from isotherm.bench.report import Note
from isotherm.bench.soak import ALLOWED_GROWTH
from isotherm.bench.workload import Prompts

STAGES = ("connected", "inside the head", "inside the body", "asked", "inside the stream", "whole answer due")
"""Where a client vanishes. The last has asked for an answer that is not streamed."""

HEARD_BYTES = 600
"""About two events: what a client inside the stream reads before it vanishes."""

AT_ONCE = 250
PATIENCE_S = 60.0
LOOK_S = 0.1
SPARE_FILES = 8
"""Connections that may be open beyond those before: our own, and what the system closes late."""


@dataclass(frozen=True, slots=True)
class VanishReport:
    """stages: how many clients vanished at each. running, open_files: beyond what there was before, after at most PATIENCE_S.

    same_answer: whether a request is answered with the same bits as before. growth: memory at the end over half time's, less 1.
    """

    clients: int
    stages: dict[str, int]
    running: int
    open_files: int
    same_answer: bool
    growth: float

    @property
    def unharmed(self) -> bool:
        """Whether nothing is left of them."""
        return (
            self.same_answer and not self.running and self.open_files <= SPARE_FILES and self.growth <= ALLOWED_GROWTH
        )

    def line(self) -> str:
        """In one sentence."""
        return (
            f"{self.clients} clients vanished; {self.running} of their requests still run, {self.open_files} files more are "
            f"open, an answer is {'the same' if self.same_answer else 'ANOTHER'}, memory {self.growth:+.2%} from half time "
            f"({'unharmed' if self.unharmed else 'HARMED'})"
        )

    def to_record(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "schema": 1,
            "clients": self.clients,
            "stages": self.stages,
            "running": self.running,
            "open_files": self.open_files,
            "same_answer": self.same_answer,
            "growth": round(self.growth, 5),
            "unharmed": self.unharmed,
        }


async def vanish(http: httpx.AsyncClient, prompts: Prompts, clients: int, note: Note) -> VanishReport:
    """Send `clients` clients that vanish, AT_ONCE of them together. Raises BenchError for a server without our metrics."""
    probe = prompts.next(200)
    before = await _answer(http, probe)
    baseline = await read_gauges(http)
    stages: Counter[str] = Counter()
    half = 0.0
    together = min(AT_ONCE, max(1, clients // 2))
    for start in range(0, clients, together):
        numbers = range(start, min(clients, start + together))
        stages += Counter(await asyncio.gather(*(_client(http, prompts, number) for number in numbers)))
        gauges = await _quiet(http, baseline)
        half = half or (_memory(gauges) if numbers[-1] + 1 >= clients // 2 else 0.0)
        note(f"{numbers[-1] + 1} of {clients} clients have vanished")
    return VanishReport(
        clients,
        dict(stages),
        round(_busy(gauges)),
        round(gauges.get(OPEN_FILES, 0) - baseline.get(OPEN_FILES, 0)),
        await _answer(http, probe) == before,
        _memory(gauges) / half - 1,
    )


async def _client(http: httpx.AsyncClient, prompts: Prompts, number: int) -> str:
    """One client's short life. What the server does to the connection meanwhile is no concern of one who has left."""
    stage, url = STAGES[number % len(STAGES)], http.base_url
    try:
        reader, writer = await asyncio.open_connection(url.host, url.port, ssl=url.scheme == "https" or None)
    except OSError as error:
        raise BenchError(f"client {number} could not connect: {error}") from error
    with suppress(OSError):
        for piece in _pieces(stage, prompts.next(60 + number % 90), http.headers.get("authorization", "")):
            writer.write(piece)
            await writer.drain()
        if stage == "inside the stream":
            async with asyncio.timeout(PATIENCE_S):
                await reader.read(HEARD_BYTES)
        elif stage != "connected":
            await asyncio.sleep(number % 7 / 20)
    if number % 2:
        writer.transport.abort()
    writer.close()
    return stage


def _pieces(stage: str, prompt: Sequence[int], key: str) -> tuple[bytes, ...]:
    """What a client sends before it vanishes at this stage."""
    record = {"prompt": prompt, "max_tokens": 400, "ignore_eos": True, "stream": stage != "whole answer due"}
    body = json.dumps(record).encode()
    lines = [
        "POST /v1/completions HTTP/1.1",
        "Host: x",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    if key:
        lines.append(f"Authorization: {key}")
    head = "\r\n".join([*lines, "", ""]).encode()
    match stage:
        case "connected":
            return ()
        case "inside the head":
            return (head[: len(head) // 2],)
        case "inside the body":
            return (head, body[: len(body) // 2])
    return (head, body)


async def _quiet(http: httpx.AsyncClient, baseline: dict[str, float]) -> dict[str, float]:
    """The gauges once nothing runs and connections are closed, or as they are after PATIENCE_S."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + PATIENCE_S
    while True:
        gauges = await read_gauges(http)
        closed = gauges.get(OPEN_FILES, 0) <= baseline.get(OPEN_FILES, 0) + SPARE_FILES
        if (closed and not _busy(gauges)) or loop.time() > deadline:
            return gauges
        await asyncio.sleep(LOOK_S)


async def _answer(http: httpx.AsyncClient, prompt: list[int]) -> Any:
    """Text and log-probabilities of a greedy answer."""
    body = {"prompt": prompt, "max_tokens": 16, "temperature": 0, "logprobs": 5, "ignore_eos": True}
    try:
        record = (await http.post("/v1/completions", json=body)).raise_for_status().json()
        return record["choices"][0]["text"], record["choices"][0]["logprobs"]
    except (httpx.HTTPError, ValueError, KeyError, IndexError, TypeError) as error:
        raise BenchError(f"/v1/completions: {type(error).__name__}: {error}") from error


def _busy(gauges: dict[str, float]) -> float:
    return gauges.get(RUNNING, 0) + gauges.get(WAITING, 0)


def _memory(gauges: dict[str, float]) -> float:
    return gauges[SERVER_MEMORY] + gauges[ENGINE_MEMORY]
