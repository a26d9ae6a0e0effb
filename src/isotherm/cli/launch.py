"""Starts the engine's process, loads the text room meanwhile, and serves until interrupted."""

import asyncio
import dataclasses
import logging
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from isotherm.core.config import EngineConfig
from isotherm.core.errors import ConfigError
from isotherm.engine.process import EngineProcess
from isotherm.model.hf_config import read_json
from isotherm.model.source import locate
from isotherm.server.app import create_app
from isotherm.server.auth import warn_if_exposed
from isotherm.server.config import ServerConfig
from isotherm.server.defaults import SamplingDefaults
from isotherm.text.chat import ChatTemplate
from isotherm.text.tokenizer import Tokenizer
from isotherm.trace.folder import claim_folder

log = logging.getLogger("isotherm")

GRACE_S = 3
"""Seconds that a client has to take the end of its answer when the server ends."""

_LOOK_S = 0.05


def launch(config: EngineConfig, server: ServerConfig, revision: str | None, chat_template: Path | None) -> None:
    """Blocks until the server ends. Raises ConfigError or CheckpointError when it cannot start."""
    warn_if_exposed(server)
    listener = bind(server.host, server.port)
    if config.trace:
        claim_folder(Path(config.trace))
    folder = locate(config.model.path, revision)
    tokenizer = Tokenizer.load(folder)
    engine = EngineProcess(config, folder, tokenizer.vocabulary)
    template = ChatTemplate.load(folder, tokenizer, chat_template)
    generation = folder / "generation_config.json"
    if generation.is_file():
        defaults = SamplingDefaults.from_generation_config(read_json(generation))
        server = dataclasses.replace(server, default_sampling=defaults)
    info = engine.wait_ready()
    log.info("build %s", " ".join(f"{name}={value}" for name, value in info.build.items()))
    log.info(
        "context %d tokens, %d blocks of 64, %d state slots, prefix caching %s",
        info.max_model_len,
        info.blocks,
        info.slots,
        "on" if info.prefix_caching else "off",
    )
    if info.host_slots:
        log.info("host tier: %d blocks, %d states", info.host_blocks, info.host_slots)
    app = create_app(engine, tokenizer, template, server)
    log.info("serving %s at http://%s:%d/v1", server.served_model_names[0], server.host, server.port)
    asyncio.run(_serve(app, engine, server, listener))


class EndingServer(uvicorn.Server):
    """Ends with exit code 0 when asked to. SIGTERM drains: running answers are finished, new requests get a 503.

    SIGINT, a second signal, or `drain_s` seconds end running answers with an error.
    """

    def __init__(self, settings: uvicorn.Config, engine: EngineProcess, drain_s: float):
        super().__init__(settings)
        self._engine = engine
        self._drain_s = drain_s
        self._signals: list[int] = []

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Unlike uvicorn's, does not raise the signal again afterwards, which would end in a trace or a killed process."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._signalled, number)
        yield

    def _signalled(self, number: int) -> None:
        self._signals.append(number)
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain if that is what was asked, then end what is left."""
        if self._signals == [signal.SIGTERM] and not self._engine.is_idle:
            log.info(
                "draining: running answers are finished, for at most %g s; a second signal ends them", self._drain_s
            )
            self._engine.stop_accepting()
            ends = time.monotonic() + self._drain_s
            while not self._engine.is_idle and len(self._signals) == 1 and time.monotonic() < ends:
                await asyncio.sleep(_LOOK_S)
        self._engine.refuse()
        await super().shutdown(sockets)


async def _serve(app: FastAPI, engine: EngineProcess, server: ServerConfig, listener: socket.socket) -> None:
    engine.attach()
    settings = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=GRACE_S)
    await EndingServer(settings, engine, server.drain_s).serve(sockets=[listener])


def bind(host: str, port: int) -> socket.socket:
    """A socket that holds the address; nothing connects before the server listens. Raises ConfigError when it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named, or asyncio leaves Nagle's delay on: 40 ms between a stream's headers and its first token.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host.strip("[]"), port))
    except OSError as error:
        listener.close()
        raise ConfigError("port", f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    return listener
