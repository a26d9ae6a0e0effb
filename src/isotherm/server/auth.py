"""The API key: who may ask."""

import hmac
import ipaddress
import logging
from hashlib import sha256

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from isotherm.server.config import ServerConfig
from isotherm.server.errors import ApiError

log = logging.getLogger("isotherm.server")

OPEN_PATHS = frozenset({"/health", "/metrics"})
"""Paths that need no key, as in vLLM: what a load balancer and a scraper read."""


class KeyGuard:
    """Answers 401 unless the request carries one of the keys as `Authorization: Bearer KEY`.

    Digests of equal length are compared, in constant time and all of them, so that timing tells nothing of a key.
    """

    def __init__(self, app: ASGIApp, keys: tuple[str, ...]):
        self._app = app
        self._digests = tuple(sha256(key.encode()).digest() for key in keys)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS and not self._admits(Headers(scope=scope)):
            refusal = ApiError(
                401, "a valid API key is needed", code="invalid_api_key", headers={"www-authenticate": "Bearer"}
            )
            await refusal.response()(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _admits(self, headers: Headers) -> bool:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        digest = sha256(key.strip().encode("latin-1")).digest()
        matches = [hmac.compare_digest(digest, known) for known in self._digests]
        return scheme.lower() == "bearer" and any(matches)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def warn_if_exposed(config: ServerConfig) -> bool:
    """Log a warning, and return True, when anyone who reaches the machine may use the server."""
    exposed = not is_loopback(config.host) and not config.api_key
    if exposed:
        log.warning(
            "listening on %s without --api-key: anyone who reaches this address can use the server", config.host
        )
    return exposed
