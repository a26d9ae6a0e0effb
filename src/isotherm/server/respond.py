"""Runs a call and answers it, whole or streamed. The same for both generating endpoints."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import Response

from isotherm.server.call import Call
from isotherm.server.disconnect import ClientDisconnected, until_disconnect
from isotherm.server.errors import as_logged_api_error
from isotherm.server.json_response import encode
from isotherm.server.merge import Batch, merged
from isotherm.server.record import CallRecord
from isotherm.server.service import Service
from isotherm.server.shape import Chunks, Whole
from isotherm.server.sse import DONE, EventStream, event
from isotherm.server.stream_options import StreamOptions

CLIENT_CLOSED = 499
"""The status that is logged, and never read, when the client has gone."""


async def respond_whole(service: Service, request: Request, call: Call, whole: Whole) -> Response:
    """The whole answer as JSON. Raises what the engine raised; a client that leaves cancels the call."""
    record = CallRecord(call, service.metrics)

    async def gather() -> None:
        async with aclosing(merged(service.client, call.requests)) as batches:
            async for batch in batches:
                for index, output in batch:
                    record.read(index, output)
                    whole.read(index, output)

    try:
        await until_disconnect(request.receive, gather())
    except ClientDisconnected:
        return Response(status_code=CLIENT_CLOSED)
    except Exception:
        record.failed()
        raise
    finally:
        _close(service, record)
    content = await service.text.run(_size(call), lambda: encode(whole.body(record.usage)))
    return Response(content, media_type="application/json", headers={"x-request-id": call.id})


async def respond_stream(
    service: Service, request: Request, call: Call, chunks: Chunks, options: StreamOptions
) -> Response:
    """A stream of events, begun when the first output is there, so that an error before it has its HTTP status."""
    record = CallRecord(call, service.metrics)
    batches = merged(service.client, call.requests)
    try:
        first = await until_disconnect(request.receive, _first(batches))
    except ClientDisconnected:
        _close(service, record)
        return Response(status_code=CLIENT_CLOSED)
    except Exception:
        record.failed()
        _close(service, record)
        raise
    return EventStream(_events(service, record, first, batches, chunks, options), {"x-request-id": call.id})


async def _first(batches: AsyncGenerator[Batch, None]) -> Batch:
    return await anext(batches)


async def _events(
    service: Service,
    record: CallRecord,
    first: Batch,
    batches: AsyncGenerator[Batch, None],
    chunks: Chunks,
    options: StreamOptions,
) -> AsyncGenerator[bytes, None]:
    """One item a batch, of as many events as it makes. An error is an event of its own; then the stream ends as always."""
    try:
        async with aclosing(batches):
            yield _batch_events(first, record, chunks, options)
            async for batch in batches:
                yield _batch_events(batch, record, chunks, options)
        if options.include_usage:
            yield event({**chunks.head(), "usage": record.usage.body()})
    except Exception as error:
        record.failed()
        yield event(as_logged_api_error(error).body())
    finally:
        _close(service, record)
    yield DONE


def _batch_events(batch: Batch, record: CallRecord, chunks: Chunks, options: StreamOptions) -> bytes:
    events = []
    for index, output in batch:
        record.read(index, output)
        for chunk in chunks.read(index, output):
            if options.include_usage:
                chunk["usage"] = record.usage.body() if options.continuous_usage_stats else None
            events.append(event(chunk))
    return b"".join(events)


def _close(service: Service, record: CallRecord) -> None:
    record.close()
    service.watch_reuse()


def _size(call: Call) -> int:
    """Roughly the bytes of a response: what is asked of every prompt token can be large."""
    scored = sum(len(prompt.tokens) for prompt in call.prompts if prompt.sampling.prompt_logprobs is not None)
    return scored * 512
