"""Stand-ins for the engine, tokenizer and template, and a server on a loopback port around them."""

import asyncio
import struct
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import uvicorn

from isotherm.core.errors import EngineDeadError, QueueFullError, RequestError
from isotherm.core.request import Output, Request, TokenLogprob
from isotherm.core.stats import EngineInfo, EngineStats
from isotherm.core.vocabulary import Vocabulary
from isotherm.scheduler.stop import StopMatcher
from isotherm.server.app import create_app
from isotherm.server.config import ServerConfig
from isotherm.text.chat import ChatPrompt

EOS, BEGIN, PAIR = 256, 257, 258
WORDS = {EOS: b"<|end|>", BEGIN: b"<|begin|>", PAIR: b"ab"}
VOCABULARY = Vocabulary(
    tuple(bytes([byte]) for byte in range(256)) + tuple(WORDS.values()), frozenset({EOS, BEGIN}), (EOS,)
)
INFO = EngineInfo(
    max_model_len=4096,
    vocab_size=len(VOCABULARY.token_bytes),
    blocks=100,
    slots=10,
    snapshot_interval=2048,
    prefix_caching=True,
    build={"kernels": "fake"},
)


class FakeTokenizer:
    """One token a byte."""

    vocabulary = VOCABULARY
    vocab_size = len(VOCABULARY.token_bytes)

    def encode(self, text: str, special: bool = True) -> tuple[int, ...]:
        return tuple(text.encode())

    def decode(self, ids: Iterable[int], skip_special: bool = True) -> str:
        return self.decode_bytes(ids, skip_special).decode("utf-8", "replace")

    def decode_bytes(self, ids: Iterable[int], skip_special: bool = True) -> bytes:
        skipped = VOCABULARY.special_ids if skip_special else frozenset()
        return b"".join(VOCABULARY.token_bytes[token] for token in ids if token not in skipped)


class FakeTemplate:
    """role:content lines. Records the arguments of the last call; `delay` makes rendering slow."""

    def __init__(self) -> None:
        self.in_reasoning = False
        self.delay = 0.0
        self.tools: Any = None
        self.kwargs: Any = None
        self.add_generation_prompt: Any = None
        self.messages: Any = None

    def prompt(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        kwargs: dict[str, Any] | None = None,
    ) -> ChatPrompt:
        self.messages, self.tools, self.add_generation_prompt, self.kwargs = (
            messages,
            tools,
            add_generation_prompt,
            kwargs,
        )
        time.sleep(self.delay)
        for place, message in enumerate(messages):
            if not isinstance(message.get("content") or "", str):
                raise RequestError(f"messages[{place}].content[0]", "image input is not supported")
        if not messages:
            raise RequestError("messages", "must be a list of at least one message")
        text = "".join(f"{message['role']}:{message.get('content') or ''}\n" for message in messages)
        hint = 7 if messages[0]["role"] == "system" else 0
        return ChatPrompt((BEGIN, *text.encode()), hint, text, self.in_reasoning)


def float32(value: float) -> float:
    """The nearest float32."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


@dataclass
class Script:
    """What a request is answered with. group: tokens an output. pause: seconds between outputs. hold: wait for release()."""

    tokens: tuple[int, ...]
    group: int = 1
    pause: float = 0.0
    cached: int = 0
    error: Exception | None = None
    error_after: int = 0
    failed: bool = False
    hold_after: int | None = None


class FakeEngine:
    """Plays scripts, ended by the real stop rules. Records requests, and the ids of those closed early."""

    def __init__(self, vocabulary: Vocabulary = VOCABULARY) -> None:
        self.info = replace(INFO, vocab_size=len(vocabulary.token_bytes))
        self.vocabulary = vocabulary
        self.reset()

    def reset(self) -> None:
        self.script: Callable[[Request], Script] = lambda request: Script((*b"Hello world.", EOS))
        self.requests: list[Request] = []
        self.cancelled: list[str] = []
        self.current = EngineStats()
        self.dead = False
        self.closed = 0
        self.stats_delay = 0.0
        self.stats_calls = 0

    def say(self, text: str, **fields: Any) -> None:
        """Answer every request with `text`."""
        self.script = lambda request: Script((*text.encode(), EOS), **fields)

    async def generate(self, request: Request) -> AsyncGenerator[Output, None]:
        if self.dead:
            raise EngineDeadError("gone")
        self.requests.append(request)
        finished = False
        try:
            async for output in self._play(request, self.script(request)):
                finished = output.finish_reason is not None
                yield output
        except Exception:
            finished = True
            raise
        finally:
            if not finished:
                self.cancelled.append(request.id)

    async def _play(self, request: Request, script: Script) -> AsyncGenerator[Output, None]:
        for position, output in enumerate(self._outputs(request, script)):
            if script.error is not None and position == script.error_after:
                raise script.error
            if position == script.hold_after:
                await asyncio.Event().wait()
            await asyncio.sleep(script.pause)
            yield output
        if script.failed:
            yield Output(request.id, finish_reason="error", error="logits were not finite")

    def _outputs(self, request: Request, script: Script) -> Iterator[Output]:
        stop, limit, sent = StopMatcher(request.sampling, self.vocabulary), request.sampling.max_tokens, 0
        first = {
            "cached_tokens": script.cached,
            "matched_tokens": script.cached,
            "prompt_logprobs": self._prompt(request),
        }
        for start in range(0, len(script.tokens), script.group):
            group: list[int] = []
            ending: dict[str, Any] = {}
            for token in script.tokens[start : start + script.group]:
                group.append(token)
                end = stop.push(token)
                if end is not None:
                    ending = {"finish_reason": end.finish_reason, "stop_reason": end.stop_reason}
                elif sent + len(group) == limit:
                    ending = {"finish_reason": "length"}
                if ending:
                    break
            sent += len(group)
            yield replace(Output(request.id, tuple(group), self._scores(request, group)), **first, **ending)
            first = {}
            if ending:
                return

    def _scores(self, request: Request, tokens: Iterable[int]) -> tuple[TokenLogprob, ...]:
        top = request.sampling.logprobs
        return () if top is None else tuple(score(token, top) for token in tokens)

    def _prompt(self, request: Request) -> tuple[TokenLogprob, ...] | None:
        top = request.sampling.prompt_logprobs
        return None if top is None else tuple(score(token, top) for token in request.prompt[1:])

    async def stats(self) -> EngineStats:
        if self.dead:
            raise EngineDeadError("gone")
        await asyncio.sleep(self.stats_delay)
        self.stats_calls += 1
        return self.current

    async def close(self) -> None:
        self.closed += 1


def score(token: int, top: int) -> TokenLogprob:
    """Made-up scores: float32 values with no short decimal form, and minus infinity last."""
    values = [float32(-0.1 - token / 7 - place / 3) for place in range(top)]
    if top > 1:
        values[-1] = float("-inf")
    likeliest = tuple((place if place else token, value) for place, value in enumerate(values))
    return TokenLogprob(token, float32(-0.1 - token / 7), 1, likeliest)


@dataclass
class Served:
    """A server that runs. origin: scheme, host and port."""

    origin: str
    engine: FakeEngine
    template: Any

    def until(self, condition: Callable[[], bool], seconds: float = 5.0) -> bool:
        """Wait for something to come true in the server's thread."""
        deadline = time.monotonic() + seconds
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.005)
        return condition()


class QueueFull(QueueFullError):
    """The bound was reached."""


@contextmanager
def serving(tokenizer: Any = None, template: Any = None, **config: Any) -> Iterator[Served]:
    """A server in a thread, around a fake engine and, unless real ones are given, a fake tokenizer and template."""
    tokenizer, template = tokenizer or FakeTokenizer(), template or FakeTemplate()
    engine = FakeEngine(tokenizer.vocabulary)
    settings = ServerConfig(**{"served_model_names": ("tiny", "other"), **config})
    app = create_app(engine, tokenizer, template, settings)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 10
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield Served(f"http://127.0.0.1:{port}", engine, template)
    finally:
        server.should_exit = True
        thread.join(10)
