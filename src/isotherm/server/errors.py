"""Errors in OpenAI's shape: {"error": {"message", "type", "param", "code"}}."""

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from isotherm.core.errors import EngineDeadError, IsothermError, NumericsError, QueueFullError, RequestError
from isotherm.server.json_response import JsonResponse

log = logging.getLogger("isotherm.server")

_TYPES = {401: "authentication_error", 429: "rate_limit_error"}
RETRY_AFTER_S = 1


class ApiError(Exception):
    """An answer other than 200. param: the offending parameter, where there is one. code: a word that a program can test."""

    def __init__(
        self,
        status: int,
        message: str,
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ):
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.code = code
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        """The JSON that a client reads."""
        kind = _TYPES.get(self.status, "server_error" if self.status >= 500 else "invalid_request_error")
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}

    def response(self) -> Response:
        """The same as an HTTP response."""
        return JsonResponse(self.body(), status_code=self.status, headers=self.headers)


def bad_request(param: str, message: str, code: str = "invalid_value") -> ApiError:
    """A 400 that names the parameter."""
    return ApiError(400, message, param, code)


def as_api_error(error: Exception) -> ApiError:
    """What a client is told of `error`; of an unexpected one, no detail."""
    match error:
        case ApiError():
            return error
        case RequestError():
            return bad_request(error.param, str(error))
        case QueueFullError():
            headers = {"retry-after": str(RETRY_AFTER_S)}
            return ApiError(429, "too many requests are waiting; try again", code="queue_full", headers=headers)
        case EngineDeadError():
            return ApiError(503, "the engine is not running", code="engine_dead")
        case NumericsError():
            return ApiError(500, str(error), code="not_finite")
        case HTTPException():
            return ApiError(error.status_code, str(error.detail), headers=error.headers)
    return ApiError(500, "internal error; the server's log has the details", code="internal_error")


def as_logged_api_error(error: Exception) -> ApiError:
    """The same where nobody else will log an unexpected error: inside a stream."""
    if not isinstance(error, ApiError | IsothermError):
        log.error("unexpected error inside a stream", exc_info=error)
    return as_api_error(error)


def install(app: FastAPI) -> None:
    """Make every error of `app` answer in OpenAI's shape."""

    async def answer(_request: Request, error: Exception) -> Response:
        return as_api_error(error).response()

    kinds: tuple[type[Exception], ...] = (
        ApiError,
        RequestError,
        QueueFullError,
        EngineDeadError,
        HTTPException,
        Exception,
    )
    for kind in kinds:
        app.add_exception_handler(kind, answer)
