"""The engine as the server sees it: one protocol, so that tests can stand in for it."""

from collections.abc import AsyncGenerator
from typing import Protocol

from isotherm.core.request import Output, Request
from isotherm.core.stats import EngineInfo, EngineStats


class EngineClient(Protocol):
    """Reached from one event loop. Nothing here blocks it."""

    info: EngineInfo

    def generate(self, request: Request) -> AsyncGenerator[Output, None]:
        """Outputs of one request, the last with a finish_reason. Closing the generator early cancels the request.

        Raises RequestError, QueueFullError or EngineDeadError from the iteration.
        """
        ...

    async def stats(self) -> EngineStats:
        """Gauges and counters; may wait for the running pass. Raises EngineDeadError."""
        ...

    async def close(self) -> None:
        """End the engine; a second call does nothing."""
        ...
