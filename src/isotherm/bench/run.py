"""Running the bench against a server of our own, started for it, or against any by URL."""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from isotherm.bench.client import BenchClient, BenchError
from isotherm.bench.measure import measure
from isotherm.bench.report import BenchReport, Note
from isotherm.bench.soak import SoakReport, soak
from isotherm.bench.vanish import VanishReport, vanish
from isotherm.bench.workload import UNKNOWN_VOCABULARY, Prompts, Workload
from isotherm.gate.process import StartError, free_port, running_server


@dataclass(frozen=True, slots=True)
class BenchConfig:
    """base_url: of any OpenAI-compatible server that takes token ids as prompts; "" starts one of ours with `model`.

    served_model: its name there, "" for the first that it lists. vocabulary: how many token ids it knows, 0 to ask it.
    serve_command, serve_args: how our own is launched.
    """

    model: str = ""
    base_url: str = ""
    served_model: str = ""
    api_key: str = ""
    vocabulary: int = 0
    workload: Workload = field(default_factory=Workload)
    serve_command: tuple[str, ...] = (sys.executable, "-m", "isotherm", "serve")
    serve_args: tuple[str, ...] = ()
    start_timeout_s: float = 180.0
    request_timeout_s: float = 1200.0


def run_bench(config: BenchConfig, note: Note | None = None) -> BenchReport:
    """Measure. `note` is told what is being measured. Raises BenchError when the server cannot be started or used."""
    tell = note or (lambda what: None)
    with _server(config, tell) as url:
        return asyncio.run(_measure(config, url, tell))


def run_soak(config: BenchConfig, requests: int, note: Note | None = None) -> SoakReport:
    """Send many requests and watch the server's memory. Raises BenchError when the server cannot be started or used."""
    tell = note or (lambda what: None)
    with _server(config, tell) as url:
        return asyncio.run(_soak(config, url, requests, tell))


def run_vanish(config: BenchConfig, clients: int, note: Note | None = None) -> VanishReport:
    """Send clients that vanish. Raises BenchError when the server cannot be started or used."""
    tell = note or (lambda what: None)
    with _server(config, tell) as url:
        return asyncio.run(_vanish(config, url, clients, tell))


@contextmanager
def _server(config: BenchConfig, note: Note) -> Iterator[str]:
    """The URL of the server to measure: the one named, or one of ours, which ends with the block."""
    if config.base_url:
        yield config.base_url
        return
    port, logs = free_port(), Path(tempfile.mkdtemp(prefix="isotherm-bench-"))
    model = (config.model,) if config.model else ()
    command = [*config.serve_command, *model, "--port", str(port), *config.serve_args]
    note("starting a server")
    try:
        with running_server(command, port, logs / "serve.log", config.start_timeout_s) as url:
            yield url
    except StartError as error:
        raise BenchError(str(error)) from error
    shutil.rmtree(logs)


async def _measure(config: BenchConfig, base_url: str, note: Note) -> BenchReport:
    async with BenchClient(base_url, config.request_timeout_s, config.served_model, config.api_key) as client:
        version = await client.version()
        report = await measure(client, config.workload, _prompts(config, version), note)
    build = version.get("build") or {}
    return replace(report, build={str(key): str(value) for key, value in build.items()})


async def _soak(config: BenchConfig, base_url: str, requests: int, note: Note) -> SoakReport:
    async with BenchClient(base_url, config.request_timeout_s, config.served_model, config.api_key) as client:
        prompts = _prompts(config, await client.version())
        return await soak(client.http, prompts, requests, config.workload.batch, note)


async def _vanish(config: BenchConfig, base_url: str, clients: int, note: Note) -> VanishReport:
    async with BenchClient(base_url, config.request_timeout_s, config.served_model, config.api_key) as client:
        return await vanish(client.http, _prompts(config, await client.version()), clients, note)


def _prompts(config: BenchConfig, version: dict[str, Any]) -> Prompts:
    known = version.get("vocab_size")
    return Prompts(config.vocabulary or (known if isinstance(known, int) else UNKNOWN_VOCABULARY), config.workload.seed)
