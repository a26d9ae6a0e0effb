"""The engine in a process of its own, and the client that the server holds."""

import asyncio
import contextlib
import multiprocessing
import queue
import signal
import threading
import traceback
from collections.abc import AsyncGenerator
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


def serve_engine(pipe: Connection, config: EngineConfig, folder: Path, vocabulary: Vocabulary) -> None:
    """The engine process: load, answer with EngineInfo or the error, then take commands between passes until closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
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
        while True:
            while pipe.poll(0 if engine.has_work else None):
                command = pipe.recv()
                if isinstance(command, Close):
                    return
                _obey(engine, command, pipe)
            outputs = engine.step()
            if outputs:
                pipe.send(outputs)


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


class EngineProcess:
    """Starts the engine's process and speaks with it from one event loop.

    One thread writes commands and one reads answers, so that a long pass never blocks the loop.
    """

    def __init__(self, config: EngineConfig, folder: Path, vocabulary: Vocabulary):
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve_engine, args=(theirs, config, folder, vocabulary), daemon=True)
        self._process.start()
        theirs.close()
        self._commands: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        self._streams: dict[str, asyncio.Queue[Output | IsothermError]] = {}
        self._asking: list[asyncio.Future[EngineStats]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: EngineDeadError | None = None

    def wait_ready(self) -> EngineInfo:
        """Blocks until the model is loaded. Raises what the engine raised."""
        try:
            first = self._pipe.recv()
        except EOFError:
            raise EngineDeadError(f"the engine's process ended with code {self._process.exitcode}") from None
        if isinstance(first, IsothermError):
            raise first
        assert isinstance(first, EngineInfo)
        self.info = first
        return first

    def attach(self) -> None:
        """Bind to the running event loop and start the two threads."""
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._write, name="engine-writer", daemon=True).start()
        threading.Thread(target=self._read, name="engine-reader", daemon=True).start()

    def _write(self) -> None:
        with contextlib.suppress(OSError):
            while (command := self._commands.get()) is not None:
                self._pipe.send(command)

    def _read(self) -> None:
        assert self._loop is not None
        with contextlib.suppress(EOFError, OSError, RuntimeError):
            while True:
                self._loop.call_soon_threadsafe(self._dispatch, self._pipe.recv())
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._fail, _gone())

    def _dispatch(self, answer: EngineStats | Refused | list[Output]) -> None:
        if isinstance(answer, EngineStats):
            self._settle(answer)
        elif isinstance(answer, Refused):
            if stream := self._streams.get(answer.request_id):
                stream.put_nowait(answer.error)
        else:
            for output in answer:
                if stream := self._streams.get(output.request_id):
                    stream.put_nowait(output)

    def _settle(self, stats: EngineStats) -> None:
        if not self._asking:  # refused meanwhile
            return
        waiting = self._asking.pop(0)
        if not waiting.done():
            waiting.set_result(stats)

    def refuse(self) -> None:
        """From now on, raise EngineDeadError for every request, the running ones included. Called before `close`."""
        for request_id in self._streams:
            self._commands.put(Cancel(request_id))
        self._fail(EngineDeadError("the server is shutting down"))

    def _fail(self, error: EngineDeadError) -> None:
        self._end = self._end or error
        for stream in self._streams.values():
            stream.put_nowait(self._end)
        for waiting in self._asking:
            if not waiting.done():
                waiting.set_exception(self._end)
        self._asking.clear()

    async def generate(self, request: Request) -> AsyncGenerator[Output]:
        """Outputs of one request until its last; closing the iterator early cancels it.

        Raises RequestError, QueueFullError or EngineDeadError.
        """
        if self._end is not None:
            raise self._end
        stream: asyncio.Queue[Output | IsothermError] = asyncio.Queue()
        self._streams[request.id] = stream
        self._commands.put(Add(request))
        finished = False
        try:
            while not finished:
                item = await stream.get()
                if isinstance(item, IsothermError):
                    finished = True
                    raise item
                finished = item.finish_reason is not None
                yield item
        finally:
            del self._streams[request.id]
            if not finished:
                self._commands.put(Cancel(request.id))

    async def stats(self) -> EngineStats:
        """The engine's gauges and counters, as of its next moment between passes."""
        if self._end is not None:
            raise self._end
        waiting: asyncio.Future[EngineStats] = asyncio.get_running_loop().create_future()
        self._asking.append(waiting)
        self._commands.put(AskStats())
        return await waiting

    async def close(self) -> None:
        """End the process, at the end of its pass or, when that is far, at once."""
        self._commands.put(Close())
        self._commands.put(None)
        await asyncio.to_thread(self._process.join, PASS_S)
        if self._process.is_alive():
            self._process.kill()


def _gone() -> EngineDeadError:
    return EngineDeadError("the engine's process has ended; see its log")
