"""The outputs of all choices of one call, as one stream."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from isotherm.core.request import Output, Request
from isotherm.server.client import EngineClient
from isotherm.server.errors import ApiError

Batch = list[tuple[int, Output]]
_Item = tuple[int, Output | Exception | None]


async def merged(client: EngineClient, requests: Sequence[Request]) -> AsyncGenerator[Batch, None]:
    """Batches of (index into `requests`, output) in order of arrival: whatever came since the last batch.

    When one request fails, its error is raised and the others are cancelled; so are all when the generator is closed.
    """
    arrived: asyncio.Queue[_Item] = asyncio.Queue()
    pumps = [asyncio.create_task(_pump(client, index, request, arrived)) for index, request in enumerate(requests)]
    try:
        running = len(pumps)
        while running:
            batch: Batch = []
            failure: Exception | None = None
            for index, item in await _all_arrived(arrived):
                if item is None:
                    running -= 1
                elif isinstance(item, Exception):
                    failure = failure or item
                elif failure is None:
                    batch.append((index, item))
            if batch:
                yield batch
            if failure is not None:
                raise failure
    finally:
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)


async def _all_arrived(arrived: asyncio.Queue[_Item]) -> list[_Item]:
    items = [await arrived.get()]
    while not arrived.empty():
        items.append(arrived.get_nowait())
    return items


async def _pump(client: EngineClient, index: int, request: Request, arrived: asyncio.Queue[_Item]) -> None:
    try:
        finished = False
        async with aclosing(client.generate(request)) as outputs:
            async for output in outputs:
                arrived.put_nowait((index, _checked(output)))
                finished = output.finish_reason is not None
        if not finished:
            raise ApiError(500, "the engine ended the request without a reason", code="internal_error")
        arrived.put_nowait((index, None))
    except Exception as error:
        arrived.put_nowait((index, error))


def _checked(output: Output) -> Output:
    """Raises ApiError for an output that says that the request failed."""
    if output.finish_reason == "error":
        raise ApiError(500, output.error or "the request failed", code="request_failed")
    if output.finish_reason == "abort":
        raise ApiError(503, output.error or "the request was cancelled", code="cancelled")
    return output
