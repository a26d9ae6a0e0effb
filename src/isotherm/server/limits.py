"""The bound on a request's body."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from isotherm.server.errors import ApiError


class BodyLimit:
    """Answers 413 to a body over `limit` bytes, whether its length was announced or not."""

    def __init__(self, app: ASGIApp, limit: int):
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _announced(scope) > self._limit:
            await _discard(receive, self._limit)
            await self._refusal().response()(scope, receive, send)
            return
        await self._app(scope, self._counted(receive), send)

    def _counted(self, receive: Receive) -> Receive:
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limit:
                raise self._refusal()
            return message

        return counted

    def _refusal(self) -> ApiError:
        message = f"the request body is larger than {self._limit} bytes"
        return ApiError(413, message, code="request_too_large", headers={"connection": "close"})


def _announced(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "")
    return int(length) if length.isdigit() else 0


async def _discard(receive: Receive, most: int) -> None:
    """Read and drop up to `most` bytes: closing on unread data would reset the connection before the answer is read."""
    while most > 0:
        message = await receive()
        most -= len(message.get("body", b""))
        if not message.get("more_body", False):
            return
