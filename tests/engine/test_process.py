"""The engine's process: requests cross it, errors cross it, and its end is noticed."""

import asyncio
import os
import pickle
import shutil
import signal
from collections.abc import Awaitable, Callable
from itertools import chain
from pathlib import Path

import pytest

from isotherm.core.config import CacheConfig, EngineConfig, ModelConfig, SchedulerConfig
from isotherm.core.errors import CheckpointError, ConfigError, EngineDeadError, QueueFullError, RequestError
from isotherm.core.request import Output, Request
from isotherm.core.sampling import SamplingParams
from isotherm.core.vocabulary import Vocabulary
from isotherm.engine.process import EngineProcess
from isotherm.engine.stream import Stream

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


LONG = SamplingParams(temperature=1.0, max_tokens=300, ignore_eos=True, logprobs=3)


def test_a_killed_process_is_started_again_and_answers_go_on_where_they_were(checkpoints) -> None:
    """Running, sampled streams and one that arrives in between: the tokens and log-probabilities of a run undisturbed."""

    async def undisturbed(engine: EngineProcess) -> None:
        outputs = await asyncio.gather(*(answer(engine, f"r{i}", (1, 2, i), LONG) for i in range(3)))
        expected.extend([output.tokens, output.logprobs] for output in chain.from_iterable(outputs))

    async def disturbed(engine: EngineProcess) -> None:
        begun = asyncio.Event()

        async def follow(name: str, prompt: tuple[int, ...]) -> list[Output]:
            outputs = []
            async for output in engine.generate(Request(name, prompt, LONG)):
                outputs.append(output)
                if len(outputs) == 20:
                    begun.set()
            return outputs

        running = [asyncio.ensure_future(follow(f"r{i}", (1, 2, i))) for i in range(2)]
        await begun.wait()
        first = engine.pid
        os.kill(first, signal.SIGKILL)
        while not engine.restarts:
            await asyncio.sleep(0.01)
        with pytest.raises(EngineDeadError, match="started again"):
            await engine.stats()
        late = asyncio.ensure_future(follow("r2", (1, 2, 2)))
        outputs = await asyncio.gather(*running, late)
        assert [[output.tokens, output.logprobs] for output in chain.from_iterable(outputs)] == expected
        assert [sum(output.cached_tokens is not None for output in answer) for answer in outputs] == [1, 1, 1]
        assert engine.pid != first and (await engine.stats()).restarts == 1

    expected: list[object] = []
    with_engine(checkpoints["qwen3_5"], undisturbed)
    with_engine(checkpoints["qwen3_5"], disturbed)


def test_a_request_that_the_engine_had_whenever_it_died_is_given_up(checkpoints) -> None:
    async def body(engine: EngineProcess) -> None:
        stream = engine.generate(Request("r", (1, 2), SamplingParams(max_tokens=900, ignore_eos=True)))
        await anext(stream)
        with pytest.raises(EngineDeadError, match="more than once"):
            while True:
                os.kill(engine.pid, signal.SIGKILL)
                restarts = engine.restarts
                while engine.restarts == restarts:
                    await asyncio.sleep(0.01)
                while engine._restarting is not None:
                    await asyncio.sleep(0.01)
                if restarts:
                    async for _ in stream:
                        pass
        assert sum(len(output.tokens) for output in await answer(engine, "next", (1,))) == 8

    with_engine(checkpoints["qwen3_5"], body)


def test_a_request_that_is_answered_otherwise_by_the_next_process_is_an_error_and_is_cancelled_there(
    checkpoints,
) -> None:
    async def body(engine: EngineProcess) -> None:
        stream = engine.generate(Request("r", (1, 2), SamplingParams(max_tokens=900, ignore_eos=True, seed=1)))
        await anext(stream)
        engine._streams["r"]._delivered[0] += 1
        os.kill(engine.pid, signal.SIGKILL)
        with pytest.raises(EngineDeadError, match="answered otherwise"):
            async for _ in stream:
                pass
        for _ in range(200):
            if (stats := await engine.stats()).running == 0:
                break
            await asyncio.sleep(0.02)
        assert (stats.running, stats.waiting) == (0, 0) and stats.generation_tokens < 900

    with_engine(checkpoints["qwen3_5"], body)


def test_an_engine_that_cannot_be_started_again_is_an_error_for_everyone(checkpoints, tmp_path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(checkpoints["qwen3_5"], folder)

    async def body(engine: EngineProcess) -> None:
        stream = engine.generate(Request("r", (1, 2), SamplingParams(max_tokens=900, ignore_eos=True)))
        await anext(stream)
        (folder / "config.json").unlink()
        os.kill(engine.pid, signal.SIGKILL)
        with pytest.raises(EngineDeadError, match="could not be started again"):
            async for _ in stream:
                pass
        with pytest.raises(EngineDeadError):
            await answer(engine, "later", (1,))
        with pytest.raises(EngineDeadError):
            await engine.stats()

    with_engine(folder, body)


def test_outputs_that_were_delivered_are_compared_with_those_of_the_next_process() -> None:
    async def body() -> None:
        stream = Stream(Request("r", (1,), PARAMS))
        stream.push(Output("r", (5,), cached_tokens=64))
        stream.push(Output("r", (6,)))
        stream.again()
        stream.push(Output("r", (5,), cached_tokens=0))
        stream.push(Output("r", (6, 7)))  # drafted: more than was delivered
        assert [(output.tokens, output.cached_tokens) for output in [await stream.get() for _ in range(3)]] == [
            ((5,), 64),
            ((6,), None),
            ((7,), None),
        ]
        stream.again()
        stream.push(Output("r", (5,)))
        stream.push(Output("r", (9,)))
        with pytest.raises(EngineDeadError, match="answered otherwise"):
            await stream.get()

    asyncio.run(body())


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
