"""The router: softmax, the likeliest experts, ties to the lower id."""

import pytest
import torch

from isotherm.kernels.routing import reference

SIZES = [(1, 1), (4, 2), (8, 8), (12, 3), (60, 4), (128, 8), (512, 10)]
each_size = pytest.mark.parametrize(("e", "k"), SIZES, ids=[f"E{e}-k{k}" for e, k in SIZES])


@each_size
@pytest.mark.parametrize("renormalize", [False, True], ids=["raw", "renormalized"])
def test_routing_is_close_to_the_reference(variant, e, k, renormalize):
    logits = torch.randn(20, e) * 3
    got, expected = (f(logits.clone(), k, renormalize) for f in (variant.kernels().route, reference.route))
    assert torch.equal(got.experts, expected.experts)
    assert torch.allclose(
        got.weights, reference.route(logits.double(), k, renormalize).weights.float(), rtol=3e-6, atol=1e-9
    )


@each_size
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_a_row_equals_itself_in_any_batch_at_any_address(variant, e, k, threads):
    wide = torch.full((300, e + 5), torch.nan)
    logits = wide[:, 3 : 3 + e]
    logits.copy_(torch.randn(300, e))
    whole = variant.kernels(threads).route(logits, k, True)
    kernels = variant.kernels(1)
    for rows in (slice(0, 1), slice(7, 8), slice(290, 300)):
        part = kernels.route(logits[rows], k, True)
        assert torch.equal(part.experts, whole.experts[rows])
        assert torch.equal(part.weights, whole.weights[rows])


def test_fault_28_ties_go_to_the_lower_id(variant):
    logits = torch.zeros(1, 40)
    logits[0, [30, 5, 21]] = 1.0
    assert variant.kernels().route(logits, 2, True).experts.tolist() == [[5, 21]]
    assert variant.kernels().route(logits, 5, True).experts.tolist() == [[0, 1, 5, 21, 30]]
    assert variant.kernels().route(torch.zeros(1, 40), 3, True).experts.tolist() == [[0, 1, 2]]


def test_an_expert_excluded_by_minus_infinity_has_weight_zero(variant):
    logits = torch.tensor([[0.0, -torch.inf, 1.0]])
    assert variant.kernels().route(logits, 3, False).weights[0, 1] == 0.0


def test_nan_in_one_row_stays_in_that_row(variant):
    logits = torch.randn(5, 30)
    kernels = variant.kernels()
    expected = kernels.route(logits, 4, True)
    logits[2, 11] = torch.nan
    got = kernels.route(logits, 4, True)
    keep = [0, 1, 3, 4]
    assert torch.equal(got.weights[keep], expected.weights[keep])
    assert torch.equal(got.experts[keep], expected.experts[keep])
    assert ((got.experts >= 0) & (got.experts < 30)).all()


@pytest.mark.parametrize("k", [0, 9])
def test_an_impossible_k_is_refused(c_variant, k):
    with pytest.raises(ValueError, match="k: must be between 1 and 8"):
        c_variant.kernels().route(torch.zeros(1, 8), k, True)
