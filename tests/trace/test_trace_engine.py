"""What the engine records: everything that it computed, and nothing else changes."""

import numpy as np
import pytest
from traced import ask, break_engine, drive, open_engine, tokens, traces

from isotherm import LLM
from isotherm.core.config import EngineConfig
from isotherm.core.errors import ConfigError
from isotherm.core.sampling import SamplingParams
from isotherm.trace.comparison import DIFFERENT, compare
from isotherm.trace.describe import comparison_lines
from isotherm.trace.first import first_difference
from isotherm.trace.maker import maker_of
from isotherm.trace.record import Phase
from isotherm.trace.values import values_of

PROMPT = tokens(200, 1)


@pytest.fixture(params=["qwen3_5", "qwen3_next"])
def checkpoint(checkpoints, request):
    return checkpoints[request.param]


def test_nothing_is_written_when_off(checkpoint, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    engine = open_engine(checkpoint, None)
    assert engine.tracer is None and EngineConfig().trace == ""
    drive(engine, ask(PROMPT))
    assert not list(tmp_path.iterdir())


def test_a_trace_changes_no_token(checkpoint, tmp_path) -> None:
    with_trace = drive(open_engine(checkpoint, tmp_path / "t"), ask(PROMPT))
    assert with_trace == drive(open_engine(checkpoint, None), ask(PROMPT))


def test_every_row_state_block_and_logit_is_recorded(checkpoint, tmp_path) -> None:
    engine = open_engine(checkpoint, tmp_path, caching=False, budget=150)
    made = drive(engine, ask(PROMPT))["r"]
    (trace,) = traces(tmp_path)
    assert trace.header.request == "r" and trace.header.prompt == PROMPT
    assert trace.header.build == engine.info.build
    assert trace.header.layers == tuple(layer.mixer for layer in engine.runner.decoder.spec.layers)
    assert trace.ended is not None and list(trace.ended.generated) == made
    assert trace.tokens.tolist() == [*PROMPT, *made]
    cuts = [(item.number, item.start, item.end, item.phase) for item in trace.computed]
    assert cuts[:2] == [(1, 0, 150, Phase.PREFILL), (2, 150, 200, Phase.PREFILL)]
    assert cuts[2:] == [(3 + i, 200 + i, 201 + i, Phase.DECODE) for i in range(5)]
    values = values_of(trace)
    assert values.known[:-1, :205].all() and not values.known[:-1, 205:].any()
    assert np.flatnonzero(values.known[-1]).tolist() == list(range(199, 205))
    assert set(values.states) == {128, 192} and set(values.blocks) == {0, 1, 2}
    assert len({*values.rows[:-1, :205].ravel().tolist()}) == values.rows[:-1, :205].size - repeats(trace.tokens[:205])


def repeats(ids: np.ndarray) -> int:
    """Embedding rows that are equal because their tokens are."""
    return len(ids) - len(set(ids.tolist()))


def test_a_hit_is_recorded_with_the_snapshot_that_it_restored(checkpoint, tmp_path) -> None:
    engine = open_engine(checkpoint, tmp_path)
    drive(engine, ask(PROMPT, "cold"))
    drive(engine, ask((*PROMPT, *tokens(60, 2)), "warm"))
    cold, warm = traces(tmp_path)
    assert not cold.restored
    (hit,) = warm.restored
    assert (hit.number, hit.cached, hit.snapshot, len(hit.blocks)) == (warm.computed[0].number, 192, 192, 3)
    assert warm.computed[0].start == 192
    assert hit.states.tolist() == cold.computed[0].states[-1].tolist()
    assert hit.blocks.tolist() == cold.computed[0].blocks.tolist()


def test_a_hit_from_the_host_is_recorded_as_it_was_brought_in(checkpoint, tmp_path) -> None:
    """Hashes of what the pass reads, not of what its blocks and its slot held before the copies."""
    engine = open_engine(checkpoint, tmp_path, blocks=16, slots=17, offload_bytes=64 << 20)
    drive(engine, ask(PROMPT, "cold"))
    for other in range(3):
        drive(engine, ask(tokens(900, 50 + other), f"o{other}"))
    drive(engine, ask((*PROMPT, *tokens(60, 2)), "warm"))
    cold, *_, warm = traces(tmp_path)
    (hit,) = warm.restored
    assert engine.stats().host.reloaded_snapshots == 1 and (hit.cached, hit.snapshot) == (192, 192)
    assert hit.states.tolist() == cold.computed[0].states[-1].tolist()
    assert hit.blocks.tolist() == cold.computed[0].blocks.tolist()


def test_cold_and_warm_are_equal_and_what_was_skipped_is_absent(checkpoint, tmp_path) -> None:
    engine = open_engine(checkpoint, tmp_path / "warm")
    drive(engine, ask(PROMPT, "first"))
    drive(engine, ask(PROMPT, "again"), ask(tokens(90, 7), "beside"))
    drive(open_engine(checkpoint, tmp_path / "cold", caching=False), ask(PROMPT, "alone"))
    (alone,) = traces(tmp_path / "cold")
    _, again, _ = traces(tmp_path / "warm")
    assert again.restored[0].cached == 192
    comparison = compare(alone, again)
    assert comparison.equal and first_difference(comparison) is None
    tallies = comparison.tallies
    layers = len(alone.header.layers)
    assert tallies["hidden rows"].only_a == 192 * (layers + 1)
    assert tallies["hidden rows"].both == 13 * (layers + 1)
    assert tallies["states"].both == len(alone.header.states)
    assert tallies["KV blocks"].both == 3 * len(alone.header.blocks)


def test_a_preempted_request_is_recorded_in_one_file_and_equals_itself_alone(checkpoint, tmp_path) -> None:
    long = SamplingParams(temperature=0.0, max_tokens=120, ignore_eos=True)
    requests = [ask(tokens(460, i), f"r{i}", sampling=long) for i in range(2)]
    engine = open_engine(checkpoint, tmp_path / "tight", blocks=17, slots=5)
    drive(engine, *requests)
    drive(open_engine(checkpoint, tmp_path / "wide", caching=False), *requests)
    assert engine.stats().preemptions
    tight = traces(tmp_path / "tight")
    assert all(compare(a, b).equal for a, b in zip(tight, traces(tmp_path / "wide"), strict=True))
    assert any(trace.restored or values_of(trace).repeated for trace in tight)
    assert not any(values_of(trace).unequal for trace in tight)


@pytest.mark.parametrize(
    ("operation", "layer", "at", "position", "kind", "tensors"),
    [
        ("linear", 1, 130, 130, "row", ("hidden",)),
        ("linear", 0, 0, 0, "row", ("hidden",)),
        ("linear", 3, 203, 203, "row", ("hidden",)),
        ("write_kv", 3, 70, 70, "block", ("k",)),
        ("gated_delta", 2, 128, 64, "state", ("delta",)),
        ("gated_delta", 0, 192, 128, "state", ("delta",)),
        ("logits", 0, 202, 202, "logits", ("logits",)),
    ],
)
def test_the_first_difference_is_the_fault(
    checkpoints, tmp_path, operation, layer, at, position, kind, tensors
) -> None:
    """Cut at the boundaries, so that the state at 128 is read."""
    for name in ("right", "wrong"):
        engine = open_engine(checkpoints["qwen3_5"], tmp_path / name, caching=False, budget=64)
        if name == "wrong":
            break_engine(engine, operation, layer, at)
        drive(engine, ask(PROMPT))
    (right,), (wrong,) = traces(tmp_path / "right"), traces(tmp_path / "wrong")
    first = first_difference(compare(right, wrong))
    assert first is not None
    expected_layer = 4 if operation == "logits" else layer
    assert (first.position, first.layer, first.kind, first.tensors) == (position, expected_layer, kind, tensors)
    computed = at - 1 if kind == "state" else at
    assert kind != "state" or (first.start, first.end) == (position, at)
    made = next(item for item in wrong.computed if item.start <= computed < item.end)
    assert (first.b.number, first.b.how) == (made.number, "decode" if at >= 200 else "prefill")


def test_a_block_that_only_the_cache_gave_is_the_cause(checkpoints, tmp_path) -> None:
    """The fault happened in another request; here its rows are absent, and the block stands for them."""
    engine = open_engine(checkpoints["qwen3_5"], tmp_path / "warm")
    right = engine.runner.decoder
    break_engine(engine, "write_kv", 3, 70)
    drive(engine, ask(PROMPT, "first"))
    engine.runner.decoder = right
    drive(engine, ask(PROMPT, "again"))
    drive(open_engine(checkpoints["qwen3_5"], tmp_path / "cold", caching=False), ask(PROMPT))
    comparison = compare(traces(tmp_path / "cold")[0], traces(tmp_path / "warm")[1])
    first = first_difference(comparison)
    assert first is not None
    assert (first.kind, first.layer, first.start, first.end, first.position) == ("block", 3, 64, 128, 192)
    assert (first.a.how, first.b.how, first.b.cached) == ("prefill", "restored", 192)
    assert not (comparison.rows[:-1, :192] == DIFFERENT).any()
    maker = maker_of(first, comparison.b, traces(tmp_path / "warm"))
    assert maker is not None
    assert (maker.name, maker.origin.how, maker.origin.number) == ("000000-first.trace", "prefill", 1)
    assert maker_of(first, comparison.a, traces(tmp_path / "cold")) is None
    assert maker_of(first, comparison.b, traces(tmp_path / "cold")) is None
    text = "\n".join(comparison_lines(comparison, (), traces(tmp_path / "warm")))
    assert "which 000000-first.trace had computed: pass 1, prefill of positions 0..199" in text


def test_an_engine_that_is_started_again_writes_beside_what_is_there(checkpoint, tmp_path) -> None:
    first = open_engine(checkpoint, tmp_path)
    first.add(ask(PROMPT))
    first.step()
    drive(open_engine(checkpoint, tmp_path), ask(PROMPT))
    died, whole = traces(tmp_path)
    assert (died.name, whole.name) == ("000000-r.trace.part", "000001-r.trace")
    assert died.ended is None and whole.ended is not None
    comparison = compare(died, whole)
    assert comparison.equal and comparison.tallies["hidden rows"].both == 200 * 5


def test_an_llm_refuses_the_folder_of_another_run_before_it_loads(tmp_path) -> None:
    (tmp_path / "000000-r.trace").touch()
    with pytest.raises(ConfigError, match="trace"):
        LLM(trace=str(tmp_path))


def test_a_request_cancelled_or_never_run_leaves_nothing_open(checkpoint, tmp_path) -> None:
    engine = open_engine(checkpoint, tmp_path)
    engine.add(ask(PROMPT, "waits"))
    engine.cancel("waits")
    engine.step()
    engine.add(ask(PROMPT, "runs"))
    engine.step()
    engine.cancel("runs")
    while engine.has_work:
        engine.step()
    (trace,) = traces(tmp_path)
    assert trace.header.request == "runs"
    assert trace.ended is not None and trace.ended.reason == "abort"


def test_a_disk_that_fails_costs_the_trace_and_not_the_answer(checkpoint, tmp_path, monkeypatch, caplog) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    expected = drive(open_engine(checkpoint, None), ask(PROMPT))
    engine = open_engine(checkpoint, tmp_path)
    monkeypatch.setattr("isotherm.trace.writer.TraceWriter.write", full)
    assert drive(engine, ask(PROMPT)) == expected
    assert caplog.text.count("No space left") == 1
