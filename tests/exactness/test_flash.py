"""What only Flash-Next has, where engines have got it wrong: n-gram and convolution histories, index keys, their snapshots."""

import random
from dataclasses import replace
from pathlib import Path

import mutations
import pytest
import torch
from harness import EOS, GREEDY, Setup, alone, assert_published_is_exact, drive, request, tokens

from isotherm.core.config import SpeculativeConfig
from isotherm.core.constants import BLOCK
from isotherm.fuzz.states import poison
from isotherm.kernels.c_provider import CKernels
from isotherm.kernels.load import load_kernels
from isotherm.model.load import load_decoder
from isotherm.model.tiny import write_tiny
from isotherm.runner.forward import Sequenced, logits_of

KIND = "qwen4_exp"
REACH = 9
"""Tokens before a position that its n-grams and their convolution read: (4 - 1) taps, 3 apart."""


@pytest.fixture
def setup(checkpoints) -> Setup:
    return Setup(checkpoints[KIND], "c", "bfloat16")


@pytest.fixture
def exact(checkpoints) -> Setup:
    """float32: what rounding to bfloat16 mostly hides must show."""
    return Setup(checkpoints[KIND], "c", "float32")


@pytest.fixture(scope="module")
def real_layers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layers")
    heads = {"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 256, "hc_count": 4, "hc_lowrank": 320}
    delta = {"linear_num_key_heads": 4, "linear_num_value_heads": 8, "linear_key_head_dim": 128}
    index = {"indexer_n_heads": 4, "indexer_head_dim": 128, "indexer_budget": 64, "indexer_compress_ratio": 16}
    experts = {"num_experts": 32, "num_experts_per_tok": 10, "moe_intermediate_size": 160}
    shape = heads | delta | index | experts | {"linear_value_head_dim": 128, "ple_embed_dim": 640, "hidden_size": 640}
    write_tiny(KIND, folder, vocab_size=512, eos_token_id=EOS, initializer_range=0.02, **shape)
    return folder


@pytest.mark.parametrize("offset", range(REACH + 2))
def test_an_end_token_at_any_offset_before_a_hit_changes_nothing(exact: Setup, offset: int) -> None:
    prompt = list(tokens(180, 1))
    prompt[128 - offset] = EOS
    engine = exact.engine()
    cold, warm = (drive(engine, [request(prompt)])["r"] for _ in range(2))
    assert (cold.cached, warm.cached) == (0, 128)
    assert warm.compared == alone(exact, request(prompt)).compared


@pytest.mark.parametrize("cut", [*range(65, 74), 127, 128, 129])
def test_a_cut_inside_an_index_group_changes_nothing(checkpoints, cut: int) -> None:
    decoder = load_decoder(checkpoints[KIND], load_kernels("c", "float32", 1), 256)
    ids = tokens(200, 2)
    assert torch.equal(logits_of(decoder, ids), logits_of(decoder, ids, [cut, cut + 3]))


def test_the_torch_form_decodes_what_it_prefills(checkpoints) -> None:
    decoder = load_decoder(checkpoints[KIND], load_kernels("torch", "bfloat16", 1), 256)
    ids = tokens(100, 3)
    assert torch.equal(logits_of(decoder, ids), logits_of(decoder, ids, range(1, 100)))


def test_a_match_that_ends_inside_a_prefix_equals_its_own_cold_run(setup: Setup) -> None:
    stem = tokens(330, 4)
    engine = setup.engine(snapshot_interval=64)
    drive(engine, [request((*stem, *tokens(50, 5)), name="a")])
    for length in (70, 129, 200, 257, 300):
        item = request((*stem[:length], *tokens(60, length)), name=f"b{length}")
        answer = drive(engine, [item])[item.id]
        assert answer.cached == length // BLOCK * BLOCK
        assert answer.compared == alone(setup, item).compared
    assert assert_published_is_exact(engine) > 0


@pytest.mark.parametrize("start", [64, 67, 71, 72, 117])
def test_rejected_guesses_leave_nothing_behind(checkpoints, start: int) -> None:
    """A guess may complete an index group and its pooled key; what is committed then overwrites both. None crosses a boundary."""
    decoder = load_decoder(checkpoints[KIND], load_kernels("c", "float32", 1), 256)
    ids, wrong = tokens(150, 7), tokens(150, 8)
    plain, guessed = Sequenced(decoder, 150), Sequenced(decoder, 150)
    for sequence in (plain, guessed):
        poison(sequence.state)
        sequence.extend(ids[:start])
    for accepted in (0, 1, 2):
        at = guessed.length
        seen = guessed.extend((*ids[at : at + accepted + 1], *wrong[at + accepted + 1 : at + 5]))
        guessed.length = at + accepted + 1
        expected = plain.extend(ids[at : at + accepted + 1])
        assert torch.equal(seen[: accepted + 1], expected)
    assert torch.equal(guessed.extend(ids[guessed.length :]), plain.extend(ids[plain.length :]))
    for kept in ("by_slot", "by_block"):
        for name, tensor in getattr(plain.state, kept)().items():
            assert torch.equal(tensor[1:3], getattr(guessed.state, kept)()[name][1:3]), name


def test_drafts_from_the_text_itself_change_nothing(setup: Setup) -> None:
    """N-gram drafts of a prompt that repeats itself, with others beside it."""
    phrase = tokens(20, 9)
    items = [request((*phrase, *phrase[:n], *phrase[: 12 + n]), name=f"r{n}") for n in (3, 20, 17)]
    engine = setup.engine(speculative=SpeculativeConfig("ngram", 3))
    answers = drive(engine, items)
    for item in items:
        assert answers[item.id].compared == alone(setup, item).compared
    assert assert_published_is_exact(engine) > 0


@pytest.mark.parametrize("threads", [1, 3])
def test_layers_of_real_shape_are_equal_under_random_segmentations(real_layers: Path, threads: int) -> None:
    """Four streams, heads of 256, index keys of 128 in groups of 16, rows beyond the budget."""
    rng = random.Random(threads)
    ids = [rng.choice((EOS, rng.randrange(EOS))) for _ in range(200)]
    one = logits_of(load_decoder(real_layers, load_kernels("c", "bfloat16", 1), 256), ids)
    decoder = load_decoder(real_layers, load_kernels("c", "bfloat16", threads), 256)
    cuts = sorted({*rng.sample(range(1, 200), 12), *range(60, 70)})
    assert torch.equal(logits_of(decoder, ids, cuts), one)


@pytest.mark.parametrize("seed", range(6))
def test_a_snapshot_has_all_state_and_aux_state_or_is_not_built(checkpoints, seed: int) -> None:
    """On memory that is NaN until written: after each pass a slot is whole where a boundary was asked for, else untouched."""
    decoder = load_decoder(checkpoints[KIND], load_kernels("c", "float32", 1), 512)
    rng = random.Random(seed)
    sequence = Sequenced(decoder, 400)
    poison(sequence.state)
    kept = sequence.state.by_slot()
    assert {name.partition(".")[2] for name in kept} == {"conv", "delta", "ngram.tokens", "ngram.conv"}
    built: set[int] = set()
    while sequence.length < 400:
        before = sequence.length
        count = min(400 - before, rng.choice((1, 1, 2, 9, 40, 63, 64, 65, 130)))
        sequence.extend([rng.choice((EOS, rng.randrange(EOS))) for _ in range(count)])
        built |= {end // BLOCK for end in range(before + 1, sequence.length + 1) if end % BLOCK == 0}
        for slot in range(1, 400 // BLOCK + 1):
            unwritten = [bool(torch.isnan(tensor[slot]).all()) for tensor in kept.values()]
            whole = [bool(torch.isfinite(tensor[slot]).all()) for tensor in kept.values()]
            assert all(whole) if slot in built else all(unwritten)


def test_the_history_of_the_published_fault_hits_and_answers_as_without_a_cache(setup: Setup) -> None:
    """There, snapshots without aux state took the place of complete ones under the same key: of 1,006 look-ups none hit.

    So boundaries are snapshotted again and again: by prefill, by decode, after preemption, and by two requests at once.
    """
    engine = setup.engine(blocks=30, slots=9, seqs=3, budget=100, max_model_len=512)
    talk = tokens(150, 6)
    history = tuple(talk)
    hits = 0
    for turn in range(4):
        items = [
            request(history, name=f"a{turn}", params=replace(GREEDY, max_tokens=40)),
            request((*history, *tokens(5, turn)), name=f"b{turn}", params=replace(GREEDY, max_tokens=30)),
            request((*talk[:100], *tokens(60, turn + 20)), name=f"c{turn}"),
        ]
        answers = drive(engine, items)
        for item in items:
            assert answers[item.id].compared == alone(setup, item, max_model_len=512).compared
        again = drive(engine, [replace(items[0], id="again")])["again"]
        hits += again.cached == (len(history) - 1) // BLOCK * BLOCK
        assert again.compared == answers[items[0].id].compared
        history = (*history, *answers[items[0].id].tokens, *tokens(3, turn + 40))
    assert hits == 4, "a prompt that was just answered must hit at its last boundary"
    assert assert_published_is_exact(engine) > 0


def test_a_snapshot_that_lacks_a_tensor_cannot_be_committed_unseen(exact: Setup, monkeypatch) -> None:
    """The check of published state reads every tensor of `by_slot`, so one left unwritten is found by its name."""
    mutations.snapshots_lack_the_ngram_history(monkeypatch)
    engine = exact.engine()
    drive(engine, [request(tokens(200, 1))])
    true = CKernels.ngrams
    monkeypatch.undo()
    assert true is not CKernels.ngrams
    with pytest.raises(AssertionError, match=r"ngram\.tokens"):
        assert_published_is_exact(engine)


def test_slots_are_written_by_the_passes_that_name_them_alone(checkpoints) -> None:
    """Decoding up to a boundary and beyond leaves the slots of other boundaries as they were."""
    decoder = load_decoder(checkpoints[KIND], load_kernels("c", "float32", 1), 256)
    sequence = Sequenced(decoder, 200)
    sequence.extend(tokens(64, 1))
    first = {name: tensor[1].clone() for name, tensor in sequence.state.by_slot().items()}
    for token in tokens(100, 2):
        sequence.extend([token])
    assert all(torch.equal(tensor[1], first[name]) for name, tensor in sequence.state.by_slot().items())
