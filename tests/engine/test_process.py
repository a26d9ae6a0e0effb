"""The engine's process: requests cross it, errors cross it, and its end is noticed."""

import asyncio
import os
import pickle
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from isotherm.core.config import CacheConfig, EngineConfig, ModelConfig, SchedulerConfig
from isotherm.core.errors import CheckpointError, ConfigError, EngineDeadError, QueueFullError, RequestError
from isotherm.core.request import Output, Request
from isotherm.core.sampling import SamplingParams
from isotherm.core.vocabulary import Vocabulary
from isotherm.engine.process import EngineProcess

VOCABULARY = Vocabulary(tuple(bytes([i % 256]) for i in range(512)), frozenset({511}), (511,))
PARAMS = SamplingParams(temperature=0.0, max_tokens=8, ignore_eos=True)


def start(folder: Path, **scheduler: int) -> EngineProcess:
    config = EngineConfig(
        ModelConfig(str(folder), None, "float32", 1024, "c", 1),
        CacheConfig(memory_bytes=32 << 20),
        SchedulerConfig(**scheduler),
    )
    return EngineProcess(config, folder, VOCABULARY)


def with_engine(folder: Path, body: Callable[[EngineProcess], Awaitable[None]], **scheduler: int) -> None:
    async def run() -> None:
        engine = start(folder, **scheduler)
        engine.wait_ready()
        engine.attach()
        try:
            await body(engine)
        finally:
            await engine.close()

    asyncio.run(run())


async def answer(
    engine: EngineProcess, name: str, prompt: tuple[int, ...], params: SamplingParams = PARAMS
) -> list[Output]:
    return [output async for output in engine.generate(Request(name, prompt, params))]


def test_requests_at_once_are_answered_and_closing_one_cancels_it(checkpoints) -> None:
    async def body(engine: EngineProcess) -> None:
        answers = await asyncio.gather(*(answer(engine, f"r{i}", (1, 2, i)) for i in range(5)))
        assert all(sum(len(output.tokens) for output in outputs) == 8 for outputs in answers)
        assert all(outputs[-1].finish_reason == "length" for outputs in answers)

        stream = engine.generate(Request("long", (5, 6), SamplingParams(max_tokens=900, ignore_eos=True)))
        await anext(stream)
        await stream.aclose()
        for _ in range(100):
            if (await engine.stats()).running == 0:
                break
            await asyncio.sleep(0.02)
        stats = await engine.stats()
        assert (stats.running, stats.waiting) == (0, 0)
        assert stats.generation_tokens < 5 * 8 + 900

    with_engine(checkpoints["qwen3_5"], body)


def test_a_request_that_cannot_be_served_raises_its_own_error(checkpoints) -> None:
    async def body(engine: EngineProcess) -> None:
        with pytest.raises(RequestError) as caught:
            await answer(engine, "r", (1,) * 2000)
        assert caught.value.param == "prompt"
        long = SamplingParams(max_tokens=500, ignore_eos=True)
        streams = [engine.generate(Request(f"q{i}", (i + 1,), long)) for i in range(4)]
        results = await asyncio.gather(*(anext(stream) for stream in streams), return_exceptions=True)
        assert any(isinstance(result, QueueFullError) for result in results)
        for stream in streams:
            await stream.aclose()

    with_engine(checkpoints["qwen3_5"], body, max_num_seqs=1, max_waiting=1)


def test_the_end_of_the_process_is_an_error_for_everyone_waiting(checkpoints) -> None:
    async def body(engine: EngineProcess) -> None:
        stream = engine.generate(Request("r", (1, 2), SamplingParams(max_tokens=900, ignore_eos=True)))
        await anext(stream)
        os.kill(engine._process.pid, signal.SIGKILL)
        with pytest.raises(EngineDeadError):
            async for _ in stream:
                pass
        with pytest.raises(EngineDeadError):
            await answer(engine, "later", (1,))
        with pytest.raises(EngineDeadError):
            await engine.stats()

    with_engine(checkpoints["qwen3_5"], body)


def test_after_refuse_running_and_later_requests_end_with_an_error(checkpoints) -> None:
    async def body(engine: EngineProcess) -> None:
        stream = engine.generate(Request("r", (1, 2), SamplingParams(max_tokens=900, ignore_eos=True)))
        await anext(stream)
        asked = asyncio.ensure_future(engine.stats())
        await asyncio.sleep(0)
        engine.refuse()
        with pytest.raises(EngineDeadError, match="shutting down"):
            async for _ in stream:
                pass
        with pytest.raises(EngineDeadError, match="shutting down"):
            await asked
        with pytest.raises(EngineDeadError, match="shutting down"):
            await answer(engine, "later", (1,))
        await asyncio.sleep(0.2)  # the answer to `asked` arrives, and finds nobody waiting

    with_engine(checkpoints["qwen3_5"], body)


def test_a_model_that_cannot_be_loaded_raises_in_the_parent(tmp_path) -> None:
    with pytest.raises(CheckpointError, match=r"config\.json"):
        start(tmp_path).wait_ready()


@pytest.mark.parametrize("error", [ConfigError("dtype", "no"), RequestError("top_p", "no"), QueueFullError("full")])
def test_errors_survive_the_crossing(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))
