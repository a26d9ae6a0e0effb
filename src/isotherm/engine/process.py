"""The client of the engine's process that the server holds. It starts the process again when that dies."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

from isotherm.core.config import EngineConfig
from isotherm.core.errors import EngineDeadError, IsothermError
from isotherm.core.request import Output, Request
from isotherm.core.stats import EngineInfo, EngineStats
from isotherm.core.vocabulary import Vocabulary
from isotherm.engine.child import Add, AskStats, Cancel, Child, Refused, Told
from isotherm.engine.stream import Stream

log = logging.getLogger("isotherm.engine")

MOST_DEATHS = 2
"""A request that the engine had each time it died is not asked again after so many."""

MOST_RESTARTS = 5
"""Restarts without one request answered in between, after which the engine stays dead."""


class EngineProcess:
    """Streams of outputs, from one event loop, over however many processes it takes.

    How a token was computed does not change what it is, so a request that the engine had when it died is asked again of the next
    process and goes on where it was; with native numerics only those that had not begun are.
    """

    def __init__(self, config: EngineConfig, folder: Path, vocabulary: Vocabulary):
        self._start = (config, folder, vocabulary)
        self._child = Child(*self._start)
        self._streams: dict[str, Stream] = {}
        self._asking: list[asyncio.Future[EngineStats]] = []
        self._end: EngineDeadError | None = None
        self._closed: EngineDeadError | None = None
        self._restarting: asyncio.Task[None] | None = None
        self._in_a_row = 0
        self.restarts = 0

    @property
    def pid(self) -> int | None:
        """The process that computes now."""
        return self._child.pid

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits for an answer."""
        return not self._streams

    def wait_ready(self) -> EngineInfo:
        """Blocks until the model is loaded. Raises what the engine raised."""
        self.info = self._child.wait_ready()
        return self.info

    def attach(self) -> None:
        """Bind to the running event loop."""
        self._child.attach(self._told, self._lost)

    async def generate(self, request: Request) -> AsyncGenerator[Output]:
        """Outputs of one request until its last; closing the iterator early cancels it, and so does an error.

        Raises RequestError, QueueFullError or EngineDeadError.
        """
        if error := self._end or self._closed:
            raise error
        stream = self._streams[request.id] = Stream(request)
        if self._restarting is None:
            self._child.send(Add(request))
        finished = False
        try:
            while not finished:
                output = await stream.get()
                finished = output.finish_reason is not None
                yield output
        finally:
            del self._streams[request.id]
            self._in_a_row = 0 if finished else self._in_a_row
            if not finished:
                self._child.send(Cancel(request.id))

    async def stats(self) -> EngineStats:
        """The engine's gauges and counters, as of its next moment between passes. Raises EngineDeadError, also in a restart."""
        if self._end is not None:
            raise self._end
        if self._restarting is not None:
            raise EngineDeadError("the engine is being started again")
        waiting: asyncio.Future[EngineStats] = asyncio.get_running_loop().create_future()
        self._asking.append(waiting)
        self._child.send(AskStats())
        return await waiting

    def stop_accepting(self) -> None:
        """From now on, raise EngineDeadError for new requests; running ones go on."""
        self._closed = EngineDeadError("the server is shutting down")

    def refuse(self) -> None:
        """From now on, raise EngineDeadError for every request, the running ones included. Called before `close`."""
        for request_id in self._streams:
            self._child.send(Cancel(request_id))
        self._fail(EngineDeadError("the server is shutting down"))

    async def close(self) -> None:
        """End the process."""
        self._end = self._end or EngineDeadError("the server is shutting down")
        if self._restarting is not None:
            self._restarting.cancel()
        await asyncio.to_thread(self._child.close)

    def _told(self, answer: Told) -> None:
        if isinstance(answer, EngineStats):
            if self._asking and not (waiting := self._asking.pop(0)).done():
                waiting.set_result(replace(answer, restarts=self.restarts))
        elif isinstance(answer, Refused):
            if stream := self._streams.get(answer.request_id):
                stream.fail(answer.error)
        else:
            for output in answer:
                if stream := self._streams.get(output.request_id):
                    stream.push(output)

    def _fail(self, error: EngineDeadError) -> None:
        self._end = self._end or error
        for stream in self._streams.values():
            stream.fail(self._end)
        self._disappoint(self._end)

    def _disappoint(self, error: EngineDeadError) -> None:
        """Nobody will answer those who asked for stats."""
        for waiting in self._asking:
            if not waiting.done():
                waiting.set_exception(error)
        self._asking.clear()

    def _lost(self) -> None:
        """The process has ended without being asked to."""
        if self._end is not None:
            return
        if self._in_a_row >= MOST_RESTARTS:
            self._fail(EngineDeadError(f"the engine's process died {self._in_a_row + 1} times in a row; see its log"))
            return
        log.error("the engine's process has died; starting it again for %d requests", len(self._streams))
        self._disappoint(EngineDeadError("the engine's process has ended; it is being started again"))
        for stream in self._streams.values():
            self._give_up_or_keep(stream)
        self._in_a_row += 1
        self.restarts += 1
        self._restarting = asyncio.create_task(self._restart())

    def _give_up_or_keep(self, stream: Stream) -> None:
        stream.again()
        if stream.deaths >= MOST_DEATHS:
            stream.fail(EngineDeadError("the engine's process died more than once while it had this request"))
        elif stream.started and self.info.numerics != "exact":
            stream.fail(EngineDeadError("the engine's process died, and native numerics cannot go on where it was"))

    async def _restart(self) -> None:
        try:
            await asyncio.to_thread(self._child.close)
            self._child = Child(*self._start)
            info = await asyncio.to_thread(self._child.wait_ready)
            if info.build != self.info.build:
                raise EngineDeadError("the engine was started again and is another build: the files have changed")
        except IsothermError as error:
            self._restarting = None
            self._fail(EngineDeadError(f"the engine's process could not be started again: {error}"))
            return
        self.attach()
        self._restarting = None
        for stream in self._streams.values():
            if not stream.ended:
                self._child.send(Add(stream.request))
        log.warning("the engine's process runs again")
