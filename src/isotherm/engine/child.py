"""The engine in a process of its own: what runs in it, and the handle by which one event loop speaks with it."""

import asyncio
import contextlib
import multiprocessing
import queue
import signal
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from isotherm.core.config import EngineConfig
from isotherm.core.errors import EngineDeadError, IsothermError
from isotherm.core.request import Output, Request
from isotherm.core.stats import EngineInfo, EngineStats
from isotherm.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    from isotherm.engine.engine import Engine

PASS_S = 3.0
"""Seconds that `close` waits for the pass that is running."""


@dataclass(frozen=True, slots=True)
class Add:
    """Queue a request."""

    request: Request


@dataclass(frozen=True, slots=True)
class Cancel:
    """End a request."""

    request_id: str


@dataclass(frozen=True, slots=True)
class AskStats:
    """Answer with EngineStats."""


@dataclass(frozen=True, slots=True)
class Close:
    """End the process."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that could not be queued, with the error to raise."""

    request_id: str
    error: IsothermError


Command = Add | Cancel | AskStats | Close
Told = EngineStats | Refused | list[Output]


def serve_engine(pipe: Connection, config: EngineConfig, folder: Path, vocabulary: Vocabulary) -> None:
    """The engine process: load, answer with EngineInfo or the error, then take commands between passes until closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(
        signal.SIGTERM, signal.SIG_IGN
    )  # a signal to the group: the server drains, and ends this process itself
    try:
        from isotherm.engine.engine import Engine

        engine = Engine(config, folder, vocabulary)
    except IsothermError as error:
        pipe.send(error)
        return
    except Exception:
        pipe.send(EngineDeadError(traceback.format_exc()))
        return
    with contextlib.suppress(EOFError, BrokenPipeError):
        pipe.send(engine.info)
        _serve(engine, pipe)


def _serve(engine: "Engine", pipe: Connection) -> None:
    """Commands and passes in turn. What a pass gave is sent while the next one runs, where there is one."""
    outputs: list[Output] = []

    def hand_out() -> None:
        if outputs:
            pipe.send(outputs)
            outputs.clear()

    while True:
        if not engine.has_work:
            hand_out()
        while pipe.poll(0 if engine.has_work else None):
            command = pipe.recv()
            if isinstance(command, Close):
                hand_out()
                return
            _obey(engine, command, pipe)
        outputs += engine.step(hand_out)


def _obey(engine: "Engine", command: Command, pipe: Connection) -> None:
    if isinstance(command, Add):
        try:
            engine.add(command.request)
        except IsothermError as error:
            pipe.send(Refused(command.request.id, error))
    elif isinstance(command, Cancel):
        engine.cancel(command.request_id)
    elif isinstance(command, AskStats):
        pipe.send(engine.stats())


class Child:
    """One such process. One thread writes commands and one reads answers, so that a long pass never blocks the loop."""

    def __init__(self, config: EngineConfig, folder: Path, vocabulary: Vocabulary):
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve_engine, args=(theirs, config, folder, vocabulary), daemon=True)
        self._process.start()
        theirs.close()
        self._commands: queue.SimpleQueue[Command | None] = queue.SimpleQueue()

    @property
    def pid(self) -> int | None:
        """The process's id."""
        return self._process.pid

    def wait_ready(self) -> EngineInfo:
        """Blocks until the model is loaded. Raises what the engine raised."""
        try:
            first = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(PASS_S)
            raise EngineDeadError(f"the engine's process ended with code {self._process.exitcode}") from None
        if isinstance(first, IsothermError):
            raise first
        assert isinstance(first, EngineInfo)
        return first

    def attach(self, told: Callable[[Told], None], gone: Callable[[], None]) -> None:
        """From now on call these in the running event loop: for each answer, and once when the process has ended."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._write, name="engine-writer", daemon=True).start()
        threading.Thread(target=self._read, args=(loop, told, gone), name="engine-reader", daemon=True).start()

    def send(self, command: Command) -> None:
        """Queue a command; after the process's end it goes nowhere."""
        self._commands.put(command)

    def close(self) -> None:
        """End the process, at the end of its pass or, when that is far, at once. Blocks."""
        self._commands.put(Close())
        self._commands.put(None)
        self._process.join(PASS_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _write(self) -> None:
        with contextlib.suppress(OSError):
            while (command := self._commands.get()) is not None:
                self._pipe.send(command)

    def _read(self, loop: asyncio.AbstractEventLoop, told: Callable[[Told], None], gone: Callable[[], None]) -> None:
        with contextlib.suppress(EOFError, OSError, RuntimeError):
            while True:
                loop.call_soon_threadsafe(told, self._pipe.recv())
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(gone)
