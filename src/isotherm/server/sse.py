"""Server-sent events."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from isotherm.server.disconnect import ClientDisconnected, until_disconnect
from isotherm.server.json_response import encode

DONE = b"data: [DONE]\n\n"


def event(value: Any) -> bytes:
    """One event whose data is `value` as JSON, which never holds a line break."""
    return b"data: %b\n\n" % encode(value)


class EventStream(Response):
    """Sends events as they come. When the client disconnects, the source is closed where it stands."""

    media_type = "text/event-stream"

    def __init__(self, source: AsyncGenerator[bytes, None], headers: dict[str, str] | None = None):
        super().__init__(headers={"cache-control": "no-cache", "x-accel-buffering": "no", **(headers or {})})
        del self.headers["content-length"]
        self._source = source

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(ClientDisconnected):
            await until_disconnect(receive, self._send(send))

    async def _send(self, send: Send) -> None:
        async with aclosing(self._source):
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async for events in self._source:
                await send({"type": "http.response.body", "body": events, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
