"""The gate's view of a server: four endpoints over HTTP."""

import time
from dataclasses import dataclass, field
from typing import Any

import httpx

from isotherm.gate.answer import Answer
from isotherm.gate.stream import StreamReader


class ServerError(Exception):
    """A server that did not answer as the gate needs; the message says what was asked and what came."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server says of itself. caching, interval: None when it does not say."""

    version: str = ""
    build: dict[str, str] = field(default_factory=dict)
    block: int = 64
    interval: int | None = None
    caching: bool | None = None


class GateClient:
    """An HTTP client of one server. Use as an async context manager."""

    def __init__(self, base_url: str, timeout_s: float, model: str = ""):
        limits = httpx.Limits(max_connections=None)
        self._http = httpx.AsyncClient(base_url=base_url, timeout=timeout_s, limits=limits, trust_env=False)
        self._model = model

    async def __aenter__(self) -> "GateClient":
        if not self._model:
            models = await self._json("GET", "/v1/models", needed=("data",))
            self._model = str(models["data"][0]["id"])
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._http.aclose()

    async def info(self) -> ServerInfo:
        """The server's version, build and cache policy."""
        record = await self._json("GET", "/version")
        return ServerInfo(
            version=str(record.get("version", "")),
            build={str(key): str(value) for key, value in (record.get("build") or {}).items()},
            block=int(record.get("block_size") or 64),
            interval=record.get("snapshot_interval"),
            caching=record.get("prefix_caching"),
        )

    async def hint(self, body: dict[str, Any]) -> int:
        """How many tokens of a chat request come before its first user message."""
        fields = ("messages", "tools", "chat_template_kwargs")
        asked = {key: body[key] for key in fields if key in body} | {"model": self._model}
        return int((await self._json("POST", "/tokenize", asked, ("hint",)))["hint"])

    async def chat(self, body: dict[str, Any]) -> Answer:
        """Send a streamed chat request; failures of any kind are answers with an `error`."""
        reader, first, start = StreamReader(), None, time.perf_counter()
        try:
            async with self._http.stream(
                "POST", "/v1/chat/completions", json={"model": self._model} | body
            ) as response:
                if response.status_code != 200:
                    await response.aread()
                    return Answer(error=f"HTTP {response.status_code}: {response.text[:300]}")
                async for line in response.aiter_lines():
                    reader.push(line)
                    if first is None and reader.started:
                        first = time.perf_counter() - start
        except httpx.HTTPError as error:
            return Answer(error=f"{type(error).__name__}: {error}")
        return reader.answer(first, time.perf_counter() - start)

    async def prompt_scores(self, tokens: tuple[int, ...], top: int) -> tuple[list[Any], int | None]:
        """Score `tokens` in one prefill: vLLM's `prompt_logprobs` list, and the tokens taken from the cache.

        Raises ServerError.
        """
        body = {"model": self._model, "prompt": list(tokens), "max_tokens": 1, "temperature": 0, "prompt_logprobs": top}
        record = await self._json("POST", "/v1/completions", body, ("choices",))
        choice = record["choices"][0]
        details = (record.get("usage") or {}).get("prompt_tokens_details") or {}
        return list(choice.get("prompt_logprobs") or record.get("prompt_logprobs") or ()), details.get("cached_tokens")

    async def _json(
        self, method: str, path: str, body: dict[str, Any] | None = None, needed: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """One request that is answered with a JSON object in which the `needed` fields are. Raises ServerError."""
        try:
            response = await self._http.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise ServerError(f"{method} {path}: {type(error).__name__}: {error}") from error
        if response.status_code != 200:
            raise ServerError(f"{method} {path}: HTTP {response.status_code}: {response.text[:300]}")
        try:
            record = response.json()
        except ValueError:
            record = None
        if not isinstance(record, dict) or any(name not in record for name in needed):
            raise ServerError(f"{method} {path}: expected an object with {needed}, got {response.text[:300]}")
        return record
