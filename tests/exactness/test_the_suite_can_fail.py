"""Break one rule at a time, and see the exactness checks go red. A suite that cannot fail proves nothing."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from harness import GREEDY, Setup, alone, assert_published_is_exact, drive, request, tokens

from isotherm.cache.tree import RadixTree
from isotherm.core.sampling import SamplingParams
from isotherm.kernels.c_provider import CKernels
from isotherm.runner.sampler import Sampler
from isotherm.scheduler import admission, holding


@pytest.fixture
def setup(checkpoints) -> Setup:
    """float32: the last bits of a sum, which rounding to bfloat16 mostly hides, must show."""
    return Setup(checkpoints["qwen3_next"], "c", "float32")


# The checks, each a part of the suite in small.


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


# The faults, each one rule broken behind the seam.


def linear_sums_in_another_order_for_one_row(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.linear

    def broken(self, x, weight, residual=None):
        if x.shape[0] != 1:
            return true(self, x, weight, residual)
        front, back = x.clone(), x.clone()
        front[:, x.shape[1] // 2 :] = 0
        back[:, : x.shape[1] // 2] = 0
        return true(self, front, weight, true(self, back, weight, residual))

    patch.setattr(CKernels, "linear", broken)


def norm_changes_its_sum_at_256_rows(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.rms_norm

    def broken(self, x, weight, eps):
        if x.shape[0] < 256:
            return true(self, x, weight, eps)
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(1, keepdim=True) + eps) * weight).to(x.dtype)

    patch.setattr(CKernels, "rms_norm", broken)


def state_is_rounded_to_16_bits_at_a_boundary(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.gated_delta

    def broken(self, batch, qkv, b, a, decay, dt_bias, state):
        out = true(self, batch, qkv, b, a, decay, dt_bias, state)
        written = batch.write_slots.long()
        state.state[written] = state.state[written].bfloat16().float()
        return out

    patch.setattr(CKernels, "gated_delta", broken)


def snapshots_lack_the_convolution_history(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.causal_conv

    def broken(self, batch, x, weight, state):
        out = true(self, batch, x, weight, state)
        state.history[batch.write_slots.long()] = 0
        return out

    patch.setattr(CKernels, "causal_conv", broken)


def keys_are_used_unrounded_in_the_pass_that_makes_them(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.attention

    def broken(self, batch, q, store, scale):
        """Decode reads what was cached; a prefill sees keys with a little more in them."""
        if batch.rows == batch.segments:
            return true(self, batch, q, store, scale)
        finer = replace(store, k=store.k * 1.004)
        return true(self, batch, q, finer, scale)

    patch.setattr(CKernels, "attention", broken)


def the_last_token_of_a_hit_is_applied_twice(patch: pytest.MonkeyPatch) -> None:
    true = holding.enter

    def broken(cache, layout, sequence, hit):
        true(cache, layout, sequence, hit)
        if hit.tokens:
            sequence.computed -= 1

    patch.setattr(holding, "enter", broken)
    patch.setattr(admission, "enter", broken, raising=False)


def noise_is_keyed_by_place_in_the_batch(patch: pytest.MonkeyPatch) -> None:
    true = Sampler.results

    def broken(self, logits, rows, positions):
        return true(self, logits, rows, [position + place for place, position in enumerate(positions)])

    patch.setattr(Sampler, "results", broken)


def keys_of_a_full_block_are_published_unwritten(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.write_kv

    def broken(self, batch, k, v, store):
        true(self, batch, k, v, store)
        if batch.rows == batch.segments == 1 and int(batch.positions[0]) % 64 == 63:
            store.k[int(batch.blocks[-1])] = float("nan")

    patch.setattr(CKernels, "write_kv", broken)


def the_salt_is_ignored(patch: pytest.MonkeyPatch) -> None:
    true = RadixTree.path
    patch.setattr(RadixTree, "path", lambda self, space, *rest: true(self, space._replace(salt="a"), *rest))


def a_hash_decides(patch: pytest.MonkeyPatch) -> None:
    def broken(self, node, _):
        return next(iter(node.offspring()), None)

    patch.setattr(RadixTree, "child", broken)


def logits_depend_on_who_else_is_in_the_pass(patch: pytest.MonkeyPatch) -> None:
    true = CKernels.gated_delta

    def broken(self, batch, qkv, b, a, decay, dt_bias, state):
        out = true(self, batch, qkv, b, a, decay, dt_bias, state)
        return out if batch.segments == 1 else (out.float() * 1.004).to(out.dtype)

    patch.setattr(CKernels, "gated_delta", broken)


CAUGHT_BY = [
    (linear_sums_in_another_order_for_one_row, scored_equals_sampled),
    (norm_changes_its_sum_at_256_rows, batched_equals_alone),
    (state_is_rounded_to_16_bits_at_a_boundary, warm_equals_cold),
    (snapshots_lack_the_convolution_history, warm_equals_cold),
    (keys_are_used_unrounded_in_the_pass_that_makes_them, scored_equals_sampled),
    (the_last_token_of_a_hit_is_applied_twice, warm_equals_cold),
    (noise_is_keyed_by_place_in_the_batch, batched_equals_alone),
    (keys_of_a_full_block_are_published_unwritten, state_is_exact),
    (the_salt_is_ignored, salts_are_apart),
    (a_hash_decides, other_tokens_find_nothing),
    (logits_depend_on_who_else_is_in_the_pass, batched_equals_alone),
]


@pytest.mark.parametrize(("fault", "check"), CAUGHT_BY, ids=[fault.__name__ for fault, _ in CAUGHT_BY])
def test_a_broken_rule_is_caught(
    setup: Setup,
    monkeypatch: pytest.MonkeyPatch,
    fault: Callable[[pytest.MonkeyPatch], None],
    check: Callable[[Setup], None],
) -> None:
    check(setup)
    with monkeypatch.context() as patch:
        fault(patch)
        with pytest.raises((AssertionError, RuntimeError, ValueError)):
            check(setup)
