"""Keys, body bounds, full queues, dead engines and clients that leave."""

import asyncio
import logging
import time
from collections.abc import Iterator

import httpx
import openai
import pytest
from server_fakes import QueueFull, Script, Served, serving

from isotherm.core.errors import ConfigError, EngineDeadError
from isotherm.server.auth import is_loopback, warn_if_exposed
from isotherm.server.config import ServerConfig
from isotherm.server.text_thread import LARGE

HI = [{"role": "user", "content": "Hi"}]
CHAT = "/v1/chat/completions"


@pytest.fixture(scope="module")
def locked() -> Iterator[Served]:
    with serving(api_key=("first", "sécond")) as served:
        yield served


@pytest.mark.parametrize("header", [None, "Bearer", "Bearer wrong", "Bearer firs", "Basic first", "first"])
@pytest.mark.parametrize(
    ("method", "path"), [("POST", CHAT), ("GET", "/v1/models"), ("POST", "/tokenize"), ("GET", "/version")]
)
def test_without_a_key_nothing_is_served(locked: Served, header: str | None, method: str, path: str) -> None:
    headers = {} if header is None else {"authorization": header}
    response = httpx.request(method, locked.origin + path, headers=headers, trust_env=False)
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "invalid_api_key"
    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("key", ["first", "sécond"])
def test_any_of_the_keys_opens(locked: Served, key: str) -> None:
    headers = {"authorization": f"Bearer {key}".encode()}
    assert httpx.get(f"{locked.origin}/v1/models", headers=headers, trust_env=False).status_code == 200


def test_the_openai_client_is_told_that_its_key_is_wrong(locked: Served) -> None:
    client = openai.OpenAI(base_url=f"{locked.origin}/v1", api_key="wrong", max_retries=0)
    with client, pytest.raises(openai.AuthenticationError):
        client.models.list()


@pytest.mark.parametrize("path", ["/health", "/metrics"])
def test_health_and_metrics_need_no_key(locked: Served, path: str) -> None:
    assert httpx.get(locked.origin + path, trust_env=False).status_code == 200


def test_keys_are_not_shown() -> None:
    assert "secret" not in repr(ServerConfig(("m",), api_key=("secret",)))


def test_an_empty_key_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="api_key"):
        ServerConfig(("m",), api_key=("",))


@pytest.mark.parametrize(
    ("host", "key", "exposed"),
    [
        ("127.0.0.1", (), False),
        ("localhost", (), False),
        ("::1", (), False),
        ("0.0.0.0", (), True),
        ("::", (), True),
        ("example.org", (), True),
        ("0.0.0.0", ("k",), False),
    ],
)
def test_listening_beyond_loopback_without_a_key_is_warned_of(
    caplog: pytest.LogCaptureFixture, host: str, key: tuple[str, ...], exposed: bool
) -> None:
    assert is_loopback(host) is (host in ("127.0.0.1", "localhost", "::1"))
    assert warn_if_exposed(ServerConfig(("m",), host=host, api_key=key)) is exposed
    assert ("--api-key" in caplog.text) is exposed


def test_a_body_over_the_limit_is_a_413_announced_or_not(http: httpx.Client) -> None:
    body = b'{"messages": [{"role": "user", "content": "' + b"x" * (1 << 20) + b'"}]}'
    headers = {"content-type": "application/json"}

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(body), 1 << 16):
            yield body[start : start + (1 << 16)]

    for content in (body, pieces()):
        response = http.post(CHAT, content=content, headers=headers)
        assert response.status_code == 413
        assert response.json()["error"]["code"] == "request_too_large"


def test_a_full_queue_is_a_429_that_says_when_to_return(http: httpx.Client, served: Served) -> None:
    served.engine.say("Hello", error=QueueFull())
    for stream in (False, True):
        response = http.post(CHAT, json={"messages": HI, "stream": stream})
        assert response.status_code == 429
        assert int(response.headers["retry-after"]) >= 1
        assert response.json()["error"] == {
            "message": "too many requests are waiting; try again",
            "type": "rate_limit_error",
            "param": None,
            "code": "queue_full",
        }


def test_one_choice_that_finds_the_queue_full_cancels_the_others(http: httpx.Client, served: Served) -> None:
    served.engine.script = lambda request: Script(
        tuple(b"Hello"), hold_after=0, error=QueueFull() if request.choice == 2 else None
    )
    assert http.post(CHAT, json={"messages": HI, "n": 3}).status_code == 429
    assert len(served.engine.cancelled) == 2


def test_a_dead_engine_is_a_503_and_unhealthy(http: httpx.Client, served: Served) -> None:
    served.engine.dead = True
    for response in (http.post(CHAT, json={"messages": HI}), http.get("/health")):
        assert response.status_code == 503
        assert response.json()["error"]["type"] == "server_error"
    assert http.get("/metrics").status_code == 200


def test_an_engine_that_dies_in_the_middle_is_a_503(http: httpx.Client, served: Served) -> None:
    served.engine.say("Hello", error=EngineDeadError("gone"), error_after=2)
    assert http.post(CHAT, json={"messages": HI}).status_code == 503


def test_a_busy_engine_is_healthy(http: httpx.Client, served: Served) -> None:
    served.engine.stats_delay = 30
    started = time.monotonic()
    assert http.get("/health").status_code == 200
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("failed", [True, False])
def test_a_request_that_fails_inside_the_engine_is_a_500(http: httpx.Client, served: Served, failed: bool) -> None:
    error = None if failed else RuntimeError("a secret path")
    served.engine.script = lambda request: Script(tuple(b"Hel"), failed=failed, error=error, error_after=1)
    response = http.post(CHAT, json={"messages": HI})
    assert response.status_code == 500
    assert response.json()["error"]["type"] == "server_error"
    assert "secret" not in response.text


@pytest.mark.parametrize("n", [1, 3])
def test_a_client_that_leaves_in_the_middle_of_a_stream_cancels_every_choice(
    http: httpx.Client, served: Served, n: int
) -> None:
    served.engine.say("Hello", hold_after=2)
    with http.stream("POST", CHAT, json={"messages": HI, "stream": True, "n": n}) as response:
        next(response.iter_lines())
    assert served.until(lambda: len(served.engine.cancelled) == n)


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_before_the_first_token_cancels_its_request(
    http: httpx.Client, served: Served, stream: bool
) -> None:
    served.engine.say("Hello", hold_after=0)
    with pytest.raises(httpx.ReadTimeout):
        http.post(CHAT, json={"messages": HI, "stream": stream}, timeout=0.3)
    assert served.until(lambda: len(served.engine.cancelled) == 1)


def test_a_client_that_leaves_is_logged_as_abort(
    http: httpx.Client, served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "isotherm.server")
    served.engine.say("Hello", hold_after=2)
    with http.stream("POST", CHAT, json={"messages": HI, "stream": True}) as response:
        next(response.iter_lines())
    assert served.until(lambda: "finish abort" in caplog.text)


def test_a_large_prompt_does_not_hold_up_other_streams(served: Served) -> None:
    served.engine.say("x" * 40, pause=0.005)

    async def gaps() -> float:
        async with httpx.AsyncClient(base_url=served.origin, trust_env=False, timeout=10) as http:
            large = {"messages": [{"role": "user", "content": "y" * LARGE}]}
            async with http.stream("POST", CHAT, json={"messages": HI, "stream": True}) as response:
                lines = response.aiter_lines()
                await anext(lines)
                served.template.delay = 1.0
                asking = asyncio.create_task(http.post(CHAT, json=large))
                worst, last = 0.0, time.monotonic()
                async for _ in lines:
                    worst, last = max(worst, time.monotonic() - last), time.monotonic()
            await asking
            return worst

    assert asyncio.run(gaps()) < 0.5


def test_the_engine_is_closed_when_the_server_ends() -> None:
    with serving() as served:
        pass
    assert served.engine.closed == 1
