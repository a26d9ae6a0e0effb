"""The gate's view of a server: OpenAI's endpoints, and three more where the server has them."""

import ipaddress
import json
import re
import time
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any
from urllib.parse import urlsplit

import httpx

from isotherm.gate.answer import Answer
from isotherm.gate.api import FULL, Api, Dialect
from isotherm.gate.reach import Policy
from isotherm.gate.stream import StreamReader


class ServerError(Exception):
    """A server that did not answer as the gate needs; the message says what was asked and what came."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server says of itself. caching: None when it does not say. policy: of an exact cache of ours, else None."""

    version: str = ""
    build: dict[str, str] = field(default_factory=dict)
    policy: Policy | None = None
    caching: bool | None = None


class GateClient:
    """An HTTP client of one server. Use as an async context manager.

    extra_body: an arm's own addition to every chat request. in_turn: additions that are taken in turn.
    """

    def __init__(
        self,
        base_url: str,
        timeout_s: float,
        api: Api = Api(),  # noqa: B008  (frozen)
        dialect: Dialect = FULL,
        extra_body: tuple[tuple[str, Any], ...] = (),
        in_turn: tuple[tuple[tuple[str, Any], ...], ...] = (),
    ):
        self._http = httpx.AsyncClient(
            base_url=server_root(base_url),
            timeout=timeout_s,
            headers=api.all_headers,
            limits=httpx.Limits(max_connections=None),
            trust_env=not is_loopback(base_url),
        )
        self.model, self._dialect = api.model, dialect
        self._extra = dict(api.extra_body) | dict(extra_body)
        self._in_turn = cycle(in_turn or ((),))

    async def __aenter__(self) -> "GateClient":
        if not self.model:
            try:
                self.model = await self._only_model()
            except ServerError:
                await self._http.aclose()
                raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._http.aclose()

    async def _only_model(self) -> str:
        models = await self._json("GET", "/v1/models", needed=("data",))
        try:
            names = [str(model["id"]) for model in models["data"]]
        except (KeyError, TypeError) as error:
            raise ServerError(f"GET /v1/models: expected a list of models, got {str(models)[:300]}") from error
        if len(names) != 1:
            told = ", ".join(names[:10]) or "none"
            raise ServerError(f"GET /v1/models lists {len(names)} models ({told}); say which with --model-name")
        return names[0]

    async def info(self) -> ServerInfo:
        """The server's version, build and cache policy, as far as it tells them."""
        try:
            record = await self._json("GET", "/version")
        except ServerError:
            return ServerInfo()
        build, interval = record.get("build"), record.get("snapshot_interval")
        exact = isinstance(interval, int) and record.get("numerics", "exact") == "exact"
        return ServerInfo(
            version=str(record.get("version", "")),
            build={str(key): str(value) for key, value in build.items()} if isinstance(build, dict) else {},
            policy=Policy(int(record.get("block_size") or 64), interval) if exact and interval is not None else None,
            caching=record.get("prefix_caching"),
        )

    async def checksums(self) -> tuple[int, int] | None:
        """States restored with the bytes that were saved, and states restored; None when the server tells of none."""
        try:
            return restored_states((await self._http.get("/metrics")).text)
        except httpx.HTTPError:
            return None

    async def hint(self, body: dict[str, Any]) -> int:
        """How many tokens of a chat request come before its first user message. Raises ServerError."""
        fields = ("messages", "tools", "chat_template_kwargs")
        asked = {key: body[key] for key in fields if key in body} | {"model": self.model}
        return int((await self._json("POST", "/tokenize", asked, ("hint",)))["hint"])

    async def chat(self, body: dict[str, Any]) -> Answer:
        """Send a chat request, streamed if the dialect says so; failures of any kind are answers with an `error`."""
        reader, first, start = StreamReader(), None, time.perf_counter()
        sent = {"model": self.model} | self._dialect.spoken(body) | self._extra | dict(next(self._in_turn))
        try:
            async with self._http.stream("POST", "/v1/chat/completions", json=sent) as response:
                if response.status_code != 200:
                    await response.aread()
                    return Answer(error=f"HTTP {response.status_code}: {response.text[:300]}")
                if sent["stream"]:
                    async for line in response.aiter_lines():
                        reader.push(line)
                        if first is None and reader.started:
                            first = time.perf_counter() - start
                else:
                    reader.whole(json.loads(await response.aread()))
        except (httpx.HTTPError, ValueError) as error:
            return Answer(error=f"{type(error).__name__}: {error}")
        return reader.answer(first, time.perf_counter() - start)

    async def prompt_scores(self, tokens: tuple[int, ...], top: int) -> tuple[list[Any], int | None]:
        """Score `tokens` in one prefill: vLLM's `prompt_logprobs` list, and the tokens taken from the cache.

        Raises ServerError.
        """
        body = {"model": self.model, "prompt": list(tokens), "max_tokens": 1, "temperature": 0, "prompt_logprobs": top}
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
        if response.status_code in (401, 403):
            raise ServerError(f"{method} {path}: HTTP {response.status_code}: give the server's key with --api-key")
        if response.status_code != 200:
            raise ServerError(f"{method} {path}: HTTP {response.status_code}: {response.text[:300]}")
        try:
            record = response.json()
        except ValueError:
            record = None
        if not isinstance(record, dict) or any(name not in record for name in needed):
            raise ServerError(f"{method} {path}: expected an object with {needed}, got {response.text[:300]}")
        return record


def restored_states(metrics: str) -> tuple[int, int] | None:
    """`isotherm:states_restored_equal` and `isotherm:states_restored` of a Prometheus text; None when there were none."""
    found = dict(re.findall(r"^isotherm:(states_restored(?:_equal)?)_total\S* (\S+)$", metrics, re.MULTILINE))
    restored = int(float(found.get("states_restored", 0)))
    return (int(float(found.get("states_restored_equal", 0))), restored) if restored else None


def server_root(base_url: str) -> str:
    """A server's URL without the /v1 that OpenAI's clients want at its end."""
    return base_url.rstrip("/").removesuffix("/v1")


def is_loopback(base_url: str) -> bool:
    """Whether a URL names this machine: proxies of the environment are for others."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
