"""The suite in small: one check for each part of the contract, run on a sound engine and on broken ones."""

from dataclasses import replace

import torch
from harness import EOS, GREEDY, Setup, alone, assert_published_is_exact, collect, drive, request, tokens

from isotherm.core.config import SpeculativeConfig
from isotherm.core.sampling import SamplingParams
from isotherm.kernels.load import load_kernels


def warm_equals_cold(setup: Setup) -> None:
    """A second turn, through generated tokens, against the same turn alone."""
    engine = setup.engine()
    first = drive(engine, [request(tokens(100, 2), params=replace(GREEDY, max_tokens=90))])["r"]
    history = request((*tokens(100, 2), *first.tokens, *tokens(150, 3)))
    second = drive(engine, [history])["r"]
    assert second.cached == 128
    assert second.compared == alone(setup, history).compared


def state_is_exact(setup: Setup) -> None:
    """What a decoding sequence leaves in the cache against a prefill of the same tokens."""
    engine = setup.engine()
    drive(engine, [request(tokens(100, 4), params=replace(GREEDY, max_tokens=100))])
    assert assert_published_is_exact(engine) > 0


def scored_equals_sampled(setup: Setup) -> None:
    """Log-probabilities of one prefill against those of decoding."""
    sampled = drive(setup.engine(), [request(tokens(90, 8), params=replace(GREEDY, max_tokens=60))])["r"]
    assert sampled.finish == "length"
    params = SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=20)
    scored = drive(setup.engine(), [request((*tokens(90, 8), *sampled.tokens), params=params)])["r"]
    assert scored.prompt_bits[89:] == sampled.bits


def batched_equals_alone(setup: Setup) -> None:
    """Sampled requests of different lengths at once, each against itself alone."""
    params = SamplingParams(temperature=1.0, max_tokens=12, logprobs=20, ignore_eos=True)
    items = [request(tokens(n, n), name=f"r{n}", params=params, seed=n) for n in (60, 64, 130, 300)]
    together = drive(setup.engine(), items)
    for item in items:
        assert together[item.id].compared == alone(setup, item).compared


def salts_are_apart(setup: Setup) -> None:
    """Another salt finds nothing."""
    engine = setup.engine()
    drive(engine, [request(tokens(200, 6), cache_salt="a")])
    assert drive(engine, [request(tokens(200, 6), cache_salt="b")])["r"].cached == 0


def other_tokens_find_nothing(setup: Setup) -> None:
    """A prompt of other tokens finds nothing, however the tree hashes."""
    engine = setup.engine()
    drive(engine, [request(tokens(200, 6))])
    assert drive(engine, [request(tokens(200, 7))])["r"].cached == 0


def a_tiny_pool_changes_nothing(setup: Setup) -> None:
    """Three at once in a pool of four slots, again and again: each against itself alone."""
    engine = setup.engine(seqs=3, slots=4, blocks=40, budget=100)
    items = [request(tokens(80 + 70 * n, n % 3), name=f"r{n}") for n in range(6)]
    together = drive(engine, items)
    for item in items:
        assert together[item.id].compared == alone(setup, item).compared


def a_cancelled_neighbour_changes_nothing(setup: Setup) -> None:
    """One of two ends early and a third takes its place."""
    engine = setup.engine(seqs=2, budget=100)
    items = [request(tokens(150, n), name=f"r{n}") for n in range(3)]
    answers = drive(engine, ())
    for item in items:
        engine.add(item)
    collect(engine, answers, steps=4)
    engine.cancel("r0")
    collect(engine, answers)
    for item in items[1:]:
        assert answers[item.id].compared == alone(setup, item).compared


def ties_go_to_the_lower_id(setup: Setup) -> None:
    """Whatever stands in the other rows."""
    kernels = load_kernels(setup.kernels, setup.dtype, 1)
    for rows in (1, 2, 5):
        ids, _ = kernels.top(torch.zeros(rows, 700), 5)
        assert ids.tolist() == [[0, 1, 2, 3, 4]] * rows
        experts = kernels.route(torch.zeros(rows, 16), 4, True).experts
        assert experts.tolist() == [[0, 1, 2, 3]] * rows


def noise_belongs_to_the_token(setup: Setup) -> None:
    """Ruling out a token that was not chosen leaves the choice as it was."""
    kernels = load_kernels(setup.kernels, setup.dtype, 1)
    logits = torch.randn(300, generator=torch.Generator().manual_seed(1))
    for seed in range(40):
        chosen = kernels.sample(logits, 1.0, 0, 1.0, 0.0, (seed, 0, 9))
        fewer = logits.clone()
        fewer[(chosen + 1) % 300] = float("-inf")
        assert kernels.sample(fewer, 1.0, 0, 1.0, 0.0, (seed, 0, 9)) == chosen


def what_was_evicted_comes_back_from_the_host(setup: Setup) -> None:
    """A conversation that others pushed out of a pool of eight blocks, and its next turn."""
    engine = setup.engine(seqs=1, slots=3, blocks=8, max_model_len=512, offload_bytes=64 << 20)
    few = replace(GREEDY, max_tokens=3)
    first = drive(engine, [request(tokens(120, 2), params=replace(GREEDY, max_tokens=75))])["r"]
    for other in range(2):
        drive(engine, [request(tokens(450, 50 + other), params=few)])
    history = request((*tokens(120, 2), *first.tokens, *tokens(20, 3)), params=replace(GREEDY, max_tokens=50))
    second = drive(engine, [history])["r"]
    stats = engine.stats().host
    assert (second.cached, stats.hits) == (192, 1) and stats.reloaded_blocks == 3
    assert second.compared == alone(setup, history, max_model_len=512).compared
    assert assert_published_is_exact(engine) > 0


def the_drafter_goes_on_after_a_hit(setup: Setup) -> None:
    """A second turn from a snapshot: its blocks, the drafter's entries in them included, against a prefill in one pass."""
    engine = setup.engine(speculative=SpeculativeConfig("mtp", 2))
    first = drive(engine, [request(tokens(100, 2), params=replace(GREEDY, max_tokens=90))])["r"]
    second = drive(engine, [request((*tokens(100, 2), *first.tokens, *tokens(150, 3)))])["r"]
    assert second.cached == 128
    assert assert_published_is_exact(engine) > 0


def a_second_turn_equals_itself_alone(setup: Setup) -> None:
    """Warm against cold, with the end token, n-grams and index groups across the cut."""
    engine = setup.engine()
    prompt = (*tokens(126, 2), EOS, *tokens(70, 8))
    first = drive(engine, [request(prompt, params=replace(GREEDY, max_tokens=70))])["r"]
    item = request((*prompt, *first.tokens, *tokens(20, 3)))
    second = drive(engine, [item])["r"]
    assert second.cached == 256
    assert second.compared == alone(setup, item).compared


def a_prefill_in_pieces_equals_one(setup: Setup) -> None:
    """Cuts inside index groups, rows beyond the budget of keys."""
    item = request(tokens(190, 9))
    assert drive(setup.engine(budget=21), [item])["r"].compared == alone(setup, item).compared


def short_prompts_are_drafted_for(setup: Setup) -> None:
    """The first index group of the drafter's, written a token at a time, against a prefill in one pass."""
    engine = setup.engine(speculative=SpeculativeConfig("mtp", 3))
    drive(engine, [request(tokens(4, 1), params=replace(GREEDY, max_tokens=70))])
    assert assert_published_is_exact(engine) > 0
