"""Drafts change nothing but how many passes an answer takes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
import torch
from harness import (
    EOS,
    GREEDY,
    ON_GPU,
    TINY,
    Setup,
    alone,
    assert_published_is_exact,
    collect,
    drive,
    request,
    tokens,
)
from scripted import Scripted

from isotherm.core.config import SpeculativeConfig
from isotherm.core.sampling import SamplingParams
from isotherm.kernels.load import load_kernels
from isotherm.kernels.segments import one_segment
from isotherm.model.mtp import load_mtp
from isotherm.runner.drafter import Drafter

T = TypeVar("T")
KINDS = ("qwen3_5", "qwen3_next", "qwen3_5_moe", *(() if ON_GPU else ("qwen4_exp",)))
METHODS = [("mtp", 1), ("mtp", 3), ("mtp", 8), ("ngram", 3)]


@pytest.fixture(scope="module")
def drafters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tiny checkpoints with a drafter."""
    from isotherm.model.tiny import write_tiny

    folders = {kind: tmp_path_factory.mktemp(kind) for kind in KINDS}
    for kind, folder in folders.items():
        write_tiny(kind, folder, seed=1, drafter=True, vocab_size=512, eos_token_id=EOS, **TINY)
    return folders


@pytest.fixture(scope="module")
def known() -> dict[object, object]:
    """What was computed without drafts: it is the same for every number of them, so once is enough."""
    return {}


def once(known: dict[object, object], key: object, make: Callable[[], T]) -> T:
    """What `make` gives, made at the first call with this key."""
    if key not in known:
        known[key] = make()
    return known[key]  # type: ignore[return-value]


def setup_of(folder: Path, dtype: str = "bfloat16" if ON_GPU else "float32", kernels: str = "c") -> Setup:
    return Setup(folder, kernels, dtype)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("method", "count"), METHODS, ids=[f"{m}-{c}" for m, c in METHODS])
def test_requests_at_once_with_drafts_equal_each_alone_without(
    kind: str, method: str, count: int, drafters: dict[str, Path], known: dict[object, object]
) -> None:
    """Greedy and sampled, with penalties, biases, stop strings and least lengths; a second turn through generated tokens."""
    setup = setup_of(drafters[kind])
    varied = (
        GREEDY,
        SamplingParams(temperature=1.0, max_tokens=40, logprobs=20, ignore_eos=True, top_p=0.9),
        SamplingParams(temperature=0.7, max_tokens=40, logprobs=5, frequency_penalty=0.6, repetition_penalty=1.2),
        SamplingParams(temperature=0.0, max_tokens=70, logprobs=5, stop=("7f", "00a"), min_tokens=6),
        SamplingParams(temperature=0.0, max_tokens=1, logprobs=5),
        SamplingParams(temperature=1.0, max_tokens=33, prompt_logprobs=3, logprobs=3, presence_penalty=-0.5),
    )
    items = [request(tokens(50 + 13 * n, n % 3), f"r{n}", params, seed=n) for n, params in enumerate(varied)]
    engine = setup.engine(speculative=SpeculativeConfig(method, count))
    answers = drive(engine, items)
    expected = once(known, kind, lambda: [alone(setup, item).compared for item in items])
    for item, compared in zip(items, expected, strict=True):
        assert answers[item.id].compared == compared, item.id
    again = request((*items[0].prompt, *answers["r0"].tokens, *tokens(30, 9)), "again")
    second = drive(engine, [again])["again"]
    assert second.compared == once(known, (kind, again), lambda: alone(setup, again)).compared
    plain = once(known, (kind, again, "cached"), lambda: drive(plain_copy(setup, items), [again])["again"])
    assert second.cached == plain.cached > 0
    assert engine.stats().drafted_tokens > 0
    assert assert_published_is_exact(engine) > 0


def plain_copy(setup: Setup, items: list) -> object:
    """An engine without drafts that has answered the same."""
    engine = setup.engine()
    drive(engine, items)
    return engine


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("chance", [0.0, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("count", [1, 3, 8])
def test_fault_13_any_pattern_of_acceptance_leaves_answers_and_states_as_they_are(
    count: int, chance: float, dtype: str, drafters: dict[str, Path], known: dict[object, object]
) -> None:
    setup = setup_of(drafters["qwen3_next"], dtype)
    params = replace(GREEDY, max_tokens=90)
    items = [request(tokens(n, n), f"r{n}", params) for n in (40, 61, 64, 130)]
    expected = once(known, dtype, lambda: {item.id: alone(setup, item) for item in items})
    engine = setup.engine(speculative=SpeculativeConfig("mtp", count))
    coming = {place: (*item.prompt, *expected[item.id].tokens) for place, item in enumerate(items)}
    engine.runner.drafter = Scripted(engine.runner.drafter, coming, chance)
    answers = drive(engine, items)
    assert {name: answer.compared for name, answer in answers.items()} == {
        name: answer.compared for name, answer in expected.items()
    }
    stats = engine.stats()
    right = sum(stats.accepted_by_position)
    assert (
        right == 0
        if chance == 0
        else right == stats.drafted_tokens
        if chance == 1
        else 0 < right < stats.drafted_tokens
    )
    assert assert_published_is_exact(engine) > 0


def test_fault_2_cached_tokens_do_not_change_with_the_number_of_drafts(drafters: dict[str, Path]) -> None:
    setup = setup_of(drafters["qwen3_5"])
    counts = []
    for config in (None, SpeculativeConfig("mtp", 1), SpeculativeConfig("mtp", 8), SpeculativeConfig("ngram", 4)):
        engine = setup.engine(speculative=config)
        cached = []
        for turn in range(4):
            prompt = (*tokens(200, 1), *tokens(70, 10 + turn))
            item = request(prompt, params=replace(GREEDY, max_tokens=70), hint=200)
            cached.append(drive(engine, [item])["r"].cached)
        counts.append(cached)
    assert counts[0][1:] == [192, 192, 192] and all(count == counts[0] for count in counts)


def test_fault_20_there_is_one_log_probability_a_token_drafted_or_not(drafters: dict[str, Path]) -> None:
    setup = setup_of(drafters["qwen3_5"])
    item = request(tokens(60, 1), params=replace(GREEDY, max_tokens=50, logprobs=2))
    answer = drive(setup.engine(speculative=SpeculativeConfig("mtp", 4)), [item])["r"]
    assert len(answer.bits) == len(answer.tokens) == 50 and answer.bits == alone(setup, item).bits


def test_fault_22_a_stop_string_inside_accepted_drafts_ends_there(drafters: dict[str, Path]) -> None:
    setup = setup_of(drafters["qwen3_5"])
    free = alone(setup, request(tokens(40, 3), params=replace(GREEDY, max_tokens=60)))
    for at in range(20, 30):
        stop = f"{free.tokens[at] % 256:02x}{free.tokens[at + 1] % 256:02x}"
        item = request(tokens(40, 3), params=replace(GREEDY, max_tokens=60, stop=(stop,)))
        engine = setup.engine(speculative=SpeculativeConfig("mtp", 8))
        engine.runner.drafter = Scripted(engine.runner.drafter, {0: (*item.prompt, *free.tokens)}, 1.0)
        assert drive(engine, [item])["r"].compared == alone(setup, item).compared
        assert engine.stats().generation_tokens <= at + 2
        assert assert_published_is_exact(engine) >= 0


def test_preemption_cancelling_and_tiny_budgets_with_drafts_change_nothing(drafters: dict[str, Path]) -> None:
    setup = setup_of(drafters["qwen3_5_moe"])
    params = replace(GREEDY, max_tokens=120)
    items = [request(tokens(60 + n, n), f"r{n}", params) for n in range(4)]
    expected = [alone(setup, item, max_model_len=512).compared for item in items[:3]]
    for budget in (4, 9, 300):
        engine = setup.engine(
            speculative=SpeculativeConfig("mtp", 3), budget=budget, seqs=4, blocks=8, slots=5, max_model_len=512
        )
        answers = drive(engine, items[:3])
        engine.add(items[3])
        collect(engine, answers, steps=6)
        engine.cancel("r3")
        collect(engine, answers)
        assert [answers[item.id].compared for item in items[:3]] == expected
    assert engine.stats().preemptions > 0


@pytest.mark.parametrize("kernels", ["c", "torch"])
def test_the_drafters_entries_are_the_same_however_the_tokens_are_cut(kernels: str, drafters: dict[str, Path]) -> None:
    from isotherm.engine.doctor import open_decoder
    from isotherm.runner.forward import Sequenced

    folder = drafters["qwen3_5"]
    decoder = open_decoder(folder, "bfloat16", kernels, 1)
    drafter = Drafter(load_mtp(folder, decoder), decoder)
    text = tokens(150, 4)
    whole = Sequenced(decoder, 150, drafter)
    whole.extend(text)
    for step in (1, 7, 64, 100):
        cut = Sequenced(decoder, 150, drafter)
        for start in range(0, 150, step):
            cut.extend(text[start : start + step])
        for name, tensor in (cut.state.by_slot() | cut.state.by_block()).items():
            other = (whole.state.by_slot() | whole.state.by_block())[name]
            same = tensor[1:3].view(torch.uint8), other[1:3].view(torch.uint8)
            assert torch.equal(*same), (step, name)


@pytest.mark.parametrize("kernels", ["c", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_key_0_is_left_out_for_every_row_but_the_first(kernels: str, dtype: str) -> None:
    from isotherm.kernels.state import KVShape

    provider = load_kernels(kernels, dtype, 1)
    made = torch.Generator().manual_seed(2)
    q, k, v = (torch.randn(130, 64, generator=made).to(provider.dtype) for _ in range(3))
    out = []
    for first in (0.0, 7.0):
        store = provider.kv_store(KVShape(2, 32), 3)
        k[0] = v[0] = first
        batch = one_segment(0, 130)
        provider.write_kv(batch, k, v, store)
        out.append(provider.attention(batch, q, store, 0.2, 1))
    assert torch.equal(out[0][1:], out[1][1:]) and torch.isfinite(out[1]).all()
    assert torch.allclose(out[1][0].float(), torch.full((64,), 7.0))
    scores = torch.einsum("thd,shd->hts", q.view(130, 2, 32).double(), k.view(130, 2, 32).double()) * 0.2
    seen = torch.ones(130, 130).tril().bool()
    seen[1:, 0] = False
    weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    expected = torch.einsum("hts,shd->thd", weights, v.view(130, 2, 32).double()).reshape(130, 64)
    assert torch.allclose(out[1].double(), expected, atol=2e-2 if dtype == "bfloat16" else 1e-5)
