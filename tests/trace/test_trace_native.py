"""Native numerics: a replay is recorded as what it is, and is where a warm turn begins to differ."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from traced import VOCABULARY, ask, drive, tokens, traces

from isotherm.core.config import CacheConfig, EngineConfig, ModelConfig, SchedulerConfig
from isotherm.core.numerics import NativeConfig
from isotherm.engine.engine import Engine
from isotherm.trace.comparison import compare
from isotherm.trace.first import first_difference, unexplained
from isotherm.trace.reader import Trace

PROMPT = tokens(300, 11)


@pytest.fixture(autouse=True)
def torch_threads():
    """Native engines set torch's number of threads, which is the whole process's."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def second_turn(checkpoint: Path, folder: Path, native: NativeConfig, *, caching: bool) -> Trace:
    """The trace of a prompt whose first 200 tokens were asked before."""
    config = EngineConfig(
        ModelConfig(str(checkpoint), None, "bfloat16", 1024, "auto", 1),
        CacheConfig(caching, 32 << 20),
        SchedulerConfig(4, 2048),
        str(folder),
        numerics="native",
        native=native,
    )
    engine = Engine(config, checkpoint, VOCABULARY)
    folder.mkdir()
    drive(engine, ask(PROMPT[:200], "first"))
    drive(engine, ask(PROMPT, "second"))
    return traces(folder)[1]


@pytest.mark.parametrize(("kv", "blocks"), [("reuse", 3), ("recompute", 2)])
def test_a_sequential_replay_is_the_first_difference(checkpoints, tmp_path, kv: str, blocks: int) -> None:
    native = NativeConfig(restore="below", kv=kv, replay="sequential")  # type: ignore[arg-type]
    checkpoint = checkpoints["qwen3_5"]
    off = second_turn(checkpoint, tmp_path / "off", NativeConfig(), caching=False)
    warm = second_turn(checkpoint, tmp_path / "warm", native, caching=True)
    (hit,) = warm.restored
    assert (hit.cached, hit.snapshot, len(hit.blocks)) == (128, 128, blocks)
    segment = warm.computed[0]
    assert (segment.start, segment.replay) == (128, 64)
    assert segment.first_block == blocks, "blocks that were reused were not made by the replay"
    first = first_difference(compare(off, warm))
    assert first is not None and first.layer == 0 and 128 <= first.position < 192
    assert (first.a.how, first.a.start, first.a.end) == ("prefill", 0, 300)
    assert (first.b.how, first.b.start, first.b.end) == ("replay", 128, 192)
    assert not any(item.kind == "block" and item.end <= 192 for item in unexplained(compare(off, warm)))


def test_native_off_equals_itself(checkpoints, tmp_path) -> None:
    one, two = (
        second_turn(checkpoints["qwen3_5"], tmp_path / name, NativeConfig(), caching=False) for name in ("one", "two")
    )
    assert compare(one, replace(two, name="two")).equal
