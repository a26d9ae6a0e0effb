"""Timing one completion over HTTP."""

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

import httpx

from isotherm.core.errors import IsothermError


class BenchError(IsothermError):
    """A server that did not answer as the bench needs."""


@dataclass(frozen=True, slots=True)
class Timing:
    """One answered request. first_s: to the first token. rest_s: from the first token to the last. new: tokens generated."""

    first_s: float
    rest_s: float
    new: int
    cached: int | None


class BenchClient:
    """Sends token ids to /v1/completions and times the stream. Use as an async context manager.

    ignores_eos turns false when the server does not know the field.
    """

    def __init__(self, base_url: str, timeout_s: float, model: str = "", api_key: str = ""):
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        limits = httpx.Limits(max_connections=None)
        self.base_url, self.model, self.ignores_eos = base_url.rstrip("/").removesuffix("/v1"), model, True
        self.http = httpx.AsyncClient(
            base_url=self.base_url, timeout=timeout_s, headers=headers, limits=limits, trust_env=False
        )

    async def __aenter__(self) -> "BenchClient":
        if not self.model:
            self.model = await self._first_model()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.http.aclose()

    async def version(self) -> dict[str, Any]:
        """What /version says; nothing on a server without one."""
        try:
            record = (await self.http.get("/version")).json()
        except (httpx.HTTPError, ValueError):
            return {}
        return record if isinstance(record, dict) else {}

    async def together(self, prompts: list[list[int]], new: int) -> tuple[float, list[Timing]]:
        """Send all prompts at once; seconds until the last is answered, and each one's timing. Raises BenchError."""
        start = time.perf_counter()
        timings = await asyncio.gather(*(self.complete(prompt, new) for prompt in prompts))
        return time.perf_counter() - start, timings

    async def complete(self, prompt: list[int], new: int) -> Timing:
        """Time one request of `new` tokens. Raises BenchError."""
        body: dict[str, Any] = {
            "model": self.model,
            "prompt": prompt,
            "max_tokens": new,
            "temperature": 0,
            "stream": True,
        }
        body["stream_options"] = {"include_usage": True}
        if self.ignores_eos:
            body["ignore_eos"] = True
        watch = _Watch()
        try:
            async with self.http.stream("POST", "/v1/completions", json=body) as response:
                if response.status_code == 200:
                    async for line in response.aiter_lines():
                        watch.line(line)
                    return watch.timing()
                refusal = (await response.aread()).decode(errors="replace")
        except (httpx.HTTPError, ValueError) as error:
            raise BenchError(f"/v1/completions: {type(error).__name__}: {error}") from error
        if response.status_code == 400 and self.ignores_eos and "ignore_eos" in refusal:
            self.ignores_eos = False
            return await self.complete(prompt, new)
        raise BenchError(f"/v1/completions: HTTP {response.status_code}: {refusal[:300]}")

    async def _first_model(self) -> str:
        try:
            response = await self.http.get("/v1/models")
            return str(response.raise_for_status().json()["data"][0]["id"])
        except (httpx.HTTPError, ValueError, KeyError, IndexError, TypeError) as error:
            raise BenchError(f"/v1/models: {type(error).__name__}: {error}") from error


class _Watch:
    """Notes when the tokens of a stream come. Text may be held back, so any chunk with a choice counts, except an empty last."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.first = self.last = 0.0
        self.usage: dict[str, Any] = {}

    def line(self, line: str) -> None:
        if not line.startswith("data:") or line.endswith("[DONE]"):
            return
        event = json.loads(line.removeprefix("data:"))
        if "error" in event:
            raise BenchError(f"/v1/completions: {event['error']}")
        self.usage = event.get("usage") or self.usage
        for choice in event.get("choices") or ():
            if choice.get("text") or choice.get("token_ids") or not choice.get("finish_reason"):
                self.last = time.perf_counter()
                self.first = self.first or self.last

    def timing(self) -> Timing:
        end = time.perf_counter()
        first, last = self.first or end, self.last or end
        if "completion_tokens" not in self.usage:
            raise BenchError("/v1/completions: the stream ended without usage")
        cached = (self.usage.get("prompt_tokens_details") or {}).get("cached_tokens")
        return Timing(first - self.start, last - first, int(self.usage["completion_tokens"]), cached)
