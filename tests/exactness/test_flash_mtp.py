"""Flash-Next with its drafter: what test_flash.py asks of the model, with guesses, and of the drafter's own index keys."""

import itertools
import random
from dataclasses import replace
from pathlib import Path

import checks
import mutations
import pytest
import torch
from harness import (
    EOS,
    GREEDY,
    ON_GPU,
    Answer,
    Setup,
    alone,
    assert_published_is_exact,
    collect,
    drive,
    request,
    tokens,
)
from test_drafts_each import scripted, watched

from isotherm.core.config import SpeculativeConfig
from isotherm.core.constants import BLOCK
from isotherm.core.request import Request
from isotherm.fuzz.states import poison
from isotherm.kernels.load import load_kernels
from isotherm.model.load import load_decoder
from isotherm.model.mtp import load_mtp
from isotherm.model.tiny import write_tiny
from isotherm.model.tiny_fp8 import convert
from isotherm.runner.drafter import Drafter
from isotherm.runner.forward import Sequenced

pytestmark = pytest.mark.skipif(ON_GPU, reason="it names the C kernels")
THREE = SpeculativeConfig("mtp", 3)
REACH = 9
"""Tokens before a position that its n-grams and their convolution read."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flash")
    write_tiny("qwen4_exp", folder, seed=1, drafter=True, vocab_size=512, eos_token_id=EOS)
    return folder


@pytest.fixture(scope="module")
def setup(folder: Path) -> Setup:
    return Setup(folder, "c", "float32")


@pytest.fixture(scope="module")
def known(setup: Setup) -> dict[Request, Answer]:
    """What requests are answered alone, without drafts and without a cache."""
    return {}


def expected(known: dict[Request, Answer], setup: Setup, item: Request) -> Answer:
    if item not in known:
        known[item] = alone(setup, item)
    return known[item]


def sequenced(folder: Path, longest: int, kernels: str = "c", dtype: str = "float32", threads: int = 1) -> Sequenced:
    decoder = load_decoder(folder, load_kernels(kernels, dtype, threads), 512)
    sequence = Sequenced(decoder, longest, Drafter(load_mtp(folder, decoder), decoder))
    poison(sequence.state)
    return sequence


def assert_same_state(one: Sequenced, other: Sequenced, blocks: int) -> None:
    """All that is kept in the first blocks and slots, the drafter's among it."""
    for kept in ("by_slot", "by_block"):
        theirs = getattr(other.state, kept)()
        for name, tensor in getattr(one.state, kept)().items():
            bits = [x[1 : blocks + 1].contiguous().view(torch.uint8) for x in (tensor, theirs[name])]
            assert torch.equal(*bits), name


@pytest.mark.parametrize("cut", [*range(1, 10), *range(63, 74), 120, 127, 128, 129])
def test_a_cut_inside_an_index_group_leaves_the_drafter_the_same_entries(folder: Path, cut: int) -> None:
    """Those of the first group too, of which token 0 is none, and the raw keys of a group that is not complete."""
    ids = tokens(133, 2)
    whole, parts = sequenced(folder, 133), sequenced(folder, 133)
    whole.extend(ids)
    for a, b in itertools.pairwise((0, cut, min(cut + 3, 133), 133)):
        if a < b:
            parts.extend(ids[a:b])
    assert {"mtp.index.keys", "mtp.index.pooled"} <= set(whole.state.by_block())
    assert_same_state(whole, parts, 3)


@pytest.mark.parametrize("seed", range(4))
def test_random_segmentations_and_threads_leave_the_drafter_the_same_entries(folder: Path, seed: int) -> None:
    rng, ids = random.Random(seed), tokens(290, seed)
    whole, parts = sequenced(folder, 290), sequenced(folder, 290, threads=3)
    whole.extend(ids)
    for a, b in itertools.pairwise([0, *sorted(rng.sample(range(1, 290), rng.randrange(1, 30))), 290]):
        parts.extend(ids[a:b])
    assert_same_state(whole, parts, 4)


@pytest.mark.parametrize(("kernels", "dtype"), [("c", "bfloat16"), ("torch", "bfloat16")])
def test_entries_one_by_one_are_those_of_one_pass(folder: Path, kernels: str, dtype: str) -> None:
    ids = tokens(75, 3)
    whole, parts = (sequenced(folder, 75, kernels, dtype) for _ in range(2))
    whole.extend(ids)
    for token in ids:
        parts.extend([token])
    assert_same_state(whole, parts, 2)


def test_the_first_pooled_key_is_not_of_token_0(folder: Path) -> None:
    """Another first token changes all keys after it through the model's rows, but token 0's own entry reaches none."""
    sequence = sequenced(folder, 16)
    sequence.extend(tokens(16, 4))
    assert sequence.state.drafter is not None
    store = sequence.state.drafter.kv
    raw = store.keys[1, 1:8].mean(0)  # type: ignore[union-attr]
    weight = load_mtp(folder, sequence.decoder).layer.mixer.index_key_norm  # type: ignore[union-attr]
    normed = raw / torch.sqrt(raw.pow(2).mean() + sequence.decoder.spec.norm_eps) * weight
    torch.testing.assert_close(store.pooled[1, 0], normed)  # type: ignore[union-attr]


@pytest.mark.parametrize("offset", range(REACH + 2))
def test_an_end_token_at_any_offset_before_a_hit_changes_nothing(
    setup: Setup, known: dict[Request, Answer], offset: int
) -> None:
    prompt = list(tokens(180, 1))
    prompt[128 - offset] = EOS
    engine = setup.engine(speculative=THREE)
    seen = watched(engine)
    cold, warm = (drive(engine, [request(prompt)])["r"] for _ in range(2))
    assert (cold.cached, warm.cached) == (0, 128)
    assert cold.compared == warm.compared == expected(known, setup, request(prompt)).compared
    drafted = [[(part.start, part.tokens) for part in seen[n] if part.drafts] for n in range(2)]
    assert drafted[0] == drafted[1] != []
    assert assert_published_is_exact(engine) > 0


def test_a_match_that_ends_inside_a_prefix_equals_its_own_cold_run_and_is_drafted_for_alike(setup: Setup) -> None:
    stem = tokens(330, 4)
    engine = setup.engine(snapshot_interval=64, speculative=THREE)
    seen = watched(engine)
    drive(engine, [request((*stem, *tokens(50, 5)), name="a")])
    for number, length in enumerate((70, 129, 200, 257), 1):
        item = request((*stem[:length], *tokens(60, length)), name=f"b{length}")
        answer = drive(engine, [item])[item.id]
        assert answer.cached == length // BLOCK * BLOCK
        cold = setup.engine(speculative=THREE)
        alone_seen = watched(cold)
        assert drive(cold, [item])[item.id].compared == answer.compared == alone(setup, item).compared
        runs = [[(part.start, part.tokens) for part in parts if part.drafts] for parts in (seen[number], alone_seen[0])]
        assert runs[0] == runs[1] != []
    assert assert_published_is_exact(engine) > 0


@pytest.mark.parametrize(("count", "chance"), [(1, 0.5), (3, 0.0), (3, 0.5), (3, 0.8), (3, 1.0), (8, 0.8), (8, 1.0)])
def test_any_pattern_of_acceptance_leaves_answers_and_states_as_they_are(
    setup: Setup, known: dict[Request, Answer], count: int, chance: float
) -> None:
    items = [request(tokens(n, n), f"r{n}", replace(GREEDY, max_tokens=80)) for n in (1, 61, 64, 130)]
    engine = setup.engine(speculative=SpeculativeConfig("mtp", count))
    scripted(engine, items, [expected(known, setup, item) for item in items], chance)
    answers = drive(engine, items)
    assert all(answers[item.id].compared == known[item].compared for item in items)
    right, stats = sum(engine.stats().accepted_by_position), engine.stats()
    assert right == stats.drafted_tokens * chance if chance in (0, 1) else 0 < right < stats.drafted_tokens
    assert assert_published_is_exact(engine) > 0


def test_turns_with_and_without_drafts_hit_through_generated_tokens_and_are_drafted_for_as_cold(setup: Setup) -> None:
    """No drafts, then three: the drafter's entries are there all the same."""
    first = request(tokens(150, 3), "first", replace(GREEDY, max_tokens=90), num_speculative_tokens=0)
    told = alone(setup, replace(first, num_speculative_tokens=None)).tokens
    second = request((*first.prompt, *told, *tokens(20, 4)), "second", replace(GREEDY, max_tokens=40))
    runs, answers = [], []
    for turns in ([first, second], [second]):
        engine = setup.engine(speculative=THREE)
        seen = watched(engine)
        answers.append([drive(engine, [turn])[turn.id] for turn in turns][-1])
        runs.append([(part.start, part.tokens) for part in seen[len(turns) - 1] if part.drafts])
        assert assert_published_is_exact(engine) > 0
    assert (answers[0].cached, answers[1].cached) == (192, 0)
    assert answers[0].compared == answers[1].compared == alone(setup, second).compared
    assert runs[0] == runs[1] != []


@pytest.mark.parametrize("count", [1, 3, 8])
def test_its_own_drafts_are_accepted_as_often_warm_as_cold_and_change_nothing(setup: Setup, count: int) -> None:
    """At a temperature the noise that model and drafter share makes random weights agree."""
    drawn = replace(GREEDY, temperature=1.0, max_tokens=70)
    items = [request(tokens(140 + 20 * n, n), f"r{n}", drawn, seed=n) for n in range(3)]
    engine = setup.engine(speculative=SpeculativeConfig("mtp", count))
    drafted, cached = [0], []
    for _ in range(2):
        answers = drive(engine, items)
        cached = [answers[item.id].cached for item in items]
        drafted.append(engine.stats().drafted_tokens)
        assert all(answers[item.id].compared == alone(setup, item).compared for item in items)
    accepted = engine.stats().accepted_by_position
    assert cached == [128, 128, 128] and drafted[2] == 2 * drafted[1]
    assert all(right > 0 and right % 2 == 0 for right in accepted[:3]), "as many the second time as the first"
    assert sum(accepted) > engine.stats().drafted_tokens / 10
    assert assert_published_is_exact(engine) > 0


def test_preemption_cancelling_and_tiny_budgets_change_nothing(setup: Setup) -> None:
    items = [request(tokens(60 + n, n), f"r{n}", replace(GREEDY, max_tokens=100)) for n in range(4)]
    plain = [alone(setup, item, max_model_len=512).compared for item in items[:3]]
    for budget in (9, 300):
        engine = setup.engine(speculative=THREE, budget=budget, seqs=4, blocks=8, slots=5, max_model_len=512)
        answers = drive(engine, items[:3])
        engine.add(items[3])
        collect(engine, answers, steps=6)
        engine.cancel("r3")
        collect(engine, answers)
        assert [answers[item.id].compared for item in items[:3]] == plain
    assert engine.stats().preemptions > 0


def test_weights_in_fp8_with_drafts_give_a_second_turn_what_it_gives_alone(tmp_path: Path) -> None:
    write_tiny("qwen4_exp", tmp_path, seed=1, drafter=True, vocab_size=512, eos_token_id=EOS)
    convert(tmp_path)
    setup = Setup(tmp_path, "c", "bfloat16")
    engine = setup.engine(speculative=THREE)
    first = drive(engine, [request(tokens(100, 2), params=replace(GREEDY, max_tokens=60))])["r"]
    item = request((*tokens(100, 2), *first.tokens, *tokens(30, 3)), "again")
    second = drive(engine, [item])["again"]
    assert second.cached == 128 and second.compared == alone(setup, item).compared
    assert engine.stats().drafted_tokens > 0 and assert_published_is_exact(engine) > 0


def test_a_snapshot_has_the_drafters_row_of_all_streams(folder: Path) -> None:
    """On memory that is NaN until written: a slot is whole where a boundary was passed, else untouched."""
    sequence = sequenced(folder, 330)
    kept = sequence.state.by_slot()
    assert kept["mtp.hidden"].shape[1:] == (1, 3 * 64)
    for count in (1, 62, 1, 70, 64, 2, 130):
        sequence.extend(tokens(count, count))
        for slot in range(1, 6):
            good = torch.isfinite if slot * BLOCK <= sequence.length else torch.isnan
            assert all(bool(good(tensor[slot]).all()) for tensor in kept.values())


def test_a_snapshot_without_the_drafters_row_is_caught(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    checks.the_drafter_goes_on_after_a_hit(setup)
    mutations.the_drafters_row_is_not_in_a_snapshot(monkeypatch)
    with pytest.raises(AssertionError, match=r"mtp\."):
        checks.the_drafter_goes_on_after_a_hit(setup)
