"""Weights in block FP8: to the bit the weights that they stand for, at every row count, on every provider."""

import pytest
import torch
from test_linear import inside_nan

from isotherm.kernels.routing.group import group
from isotherm.kernels.weight import FP8, Fp8Weight, concatenated, dequantized, rows, stacked

SHAPES = [(1, 1), (64, 96), (100, 130), (200, 257), (72, 2049)]
each_shape = pytest.mark.parametrize(("n", "k"), SHAPES, ids=[f"N{n}-K{k}" for n, k in SHAPES])


def every_value(*shape: int) -> torch.Tensor:
    """FP8 [*shape] of every finite value, subnormal ones and both zeros among them."""
    finite = torch.tensor([byte for byte in range(256) if byte & 0x7F != 0x7F], dtype=torch.uint8)
    return finite[torch.randint(0, len(finite), shape)].view(FP8)


def weight_of(*shape: int) -> Fp8Weight:
    """Rows in an order that leaves no block of scales where it was."""
    *outer, n, k = shape
    scales = torch.rand(*outer, -(-n // 128), -(-k // 128)) * 1e-2
    weight = Fp8Weight.of_blocks(every_value(*shape), scales)
    turned = torch.arange(n).roll(7)
    return Fp8Weight(weight.data.view(torch.uint8)[..., turned, :].view(FP8), weight.scales[..., turned, :])


@each_shape
def test_a_product_is_that_of_the_weight_it_stands_for(variant, n, k):
    kernels, weight = variant.kernels(2), weight_of(n, k)
    ours, same = kernels.pack(weight), kernels.pack(weight.dequantized())
    assert ours.data.element_size() == 1
    x, residual = torch.randn(230, k).to(variant.torch_dtype), torch.randn(230, n).to(variant.torch_dtype)
    whole = kernels.linear(x, same, residual)
    for first, count in ((0, 1), (3, 2), (5, 17), (40, 97), (0, 230)) if variant.provider == "c" else ((0, 1), (5, 9)):
        own = slice(first, first + count)
        assert torch.equal(kernels.linear(x[own], ours, residual[own]), whole[own]), (first, count)
        assert torch.equal(kernels.linear(inside_nan(x[own], 3, 5), ours, residual[own]), whole[own])
        assert torch.equal(kernels.logits(x[own], ours), kernels.logits(x[own], same))


def test_rows_beyond_one_group_of_tiles(c_variant):
    """More than a panel is dequantised for at once."""
    kernels, weight = c_variant.kernels(3), weight_of(80, 300)
    x = torch.randn(1500, 300).to(c_variant.torch_dtype)
    assert torch.equal(kernels.linear(x, kernels.pack(weight)), kernels.linear(x, kernels.pack(weight.dequantized())))


def test_experts_are_those_they_stand_for(variant):
    kernels, weight = variant.kernels(2), weight_of(7, 72, 140)
    ours, same = kernels.pack_experts(weight), kernels.pack_experts(weight.dequantized())
    assert ours.data.element_size() == 1
    for count in (1, 9, 60):
        x = torch.randn(count, 140).to(variant.torch_dtype)
        chosen = torch.stack([torch.randperm(7)[:3] for _ in range(count)]).sort(1).values.int()
        groups = group(chosen, 7)
        for gather, inputs in ((True, x), (False, x[groups.rows.long()])):
            expected = kernels.grouped_linear(inputs, same, groups, gather)
            assert torch.equal(kernels.grouped_linear(inputs, ours, groups, gather), expected), (count, gather)


def test_an_expert_without_rows_and_no_rows_at_all(variant):
    kernels = variant.kernels()
    ours = kernels.pack_experts(weight_of(4, 70, 30))
    groups = group(torch.tensor([[2], [2]], dtype=torch.int32), 4)
    assert kernels.grouped_linear(torch.ones(2, 30).to(variant.torch_dtype), ours, groups, True).isfinite().all()
    nothing = torch.ones(0, 30).to(variant.torch_dtype)
    assert kernels.linear(nothing, kernels.pack(weight_of(70, 30))).shape == (0, 70)


def test_the_number_of_threads_changes_nothing(c_variant):
    weight, x = weight_of(300, 256), torch.randn(50, 256).to(c_variant.torch_dtype)
    expected = c_variant.kernels(1).linear(x, c_variant.kernels(1).pack(weight))
    for threads in (2, 3, 8):
        kernels = c_variant.kernels(threads)
        assert torch.equal(kernels.linear(x, kernels.pack(weight)), expected)


def test_a_value_that_is_no_number_stays_none(variant):
    kernels = variant.kernels()
    data = torch.zeros(3, 8, dtype=torch.uint8)
    data[1, 2], data[2, 5] = 0x7F, 0xFF
    out = kernels.logits(
        torch.ones(1, 8).to(variant.torch_dtype), kernels.pack(Fp8Weight.of_blocks(data.view(FP8), torch.ones(1, 1)))
    )
    assert out.isnan().tolist() == [[False, True, True]]


def test_the_rounding_is_that_of_the_definition(variant):
    """Every value times awkward scales, products too large, subnormal and rounded to even among them."""
    kernels, q = variant.kernels(), torch.arange(256, dtype=torch.uint8).view(FP8).view(256, 1)
    q = q[(q.view(torch.uint8) & 0x7F).flatten() != 0x7F]
    for scale in (1.0, 0.1, 1 / 3, 1.00390625, 3e-39, 1e-43, 2e36):
        weight = Fp8Weight.of_blocks(q, torch.full((2, 1), scale))
        ours = kernels.logits(torch.ones(1, 1).to(variant.torch_dtype), kernels.pack(weight))[0]
        by_hand = (q.double() * torch.tensor(scale, dtype=torch.float32).double()).float().bfloat16().float().flatten()
        same = kernels.logits(torch.ones(1, 1).to(variant.torch_dtype), kernels.pack(weight.dequantized()))[0]
        assert torch.equal(ours, same)
        if 1e-30 < scale < 1e30:  # products of subnormals are zero in some builds
            assert torch.equal(ours, by_hand)


def test_weights_are_joined_and_reordered_with_their_scales():
    a, b = weight_of(130, 140), weight_of(70, 140)
    both = concatenated([a, b])
    assert isinstance(both, Fp8Weight)
    assert torch.equal(both.dequantized(), torch.cat([a.dequantized(), b.dequantized()]))
    index = torch.randperm(200)
    assert torch.equal(dequantized(rows(both, index)), both.dequantized()[index])
    assert torch.equal(dequantized(stacked([a, a])), torch.stack([a.dequantized()] * 2))
    mixed = concatenated([a, b.dequantized()])
    assert isinstance(mixed, torch.Tensor) and torch.equal(mixed, both.dequantized())


@pytest.mark.parametrize(("shift", "shared"), [(0, 128), (64, 64), (40, 8), (7, 1)])
def test_scales_are_shared_among_as_many_rows_as_are_alike(shift, shared):
    weight = Fp8Weight.of_blocks(every_value(300, 200), torch.rand(3, 2))
    turned = weight.rows(torch.cat([torch.arange(128, 300)[:shift], torch.arange(300)]))
    scales, found = turned.shared()
    assert found == shared
    assert torch.equal(scales.repeat_interleave(found, 0)[: 300 + shift], turned.scales)


def test_a_weight_and_scales_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match=r"scales \[2, 1\], got torch\.float8_e4m3fn and \[1, 1\]"):
        Fp8Weight.of_blocks(every_value(130, 20), torch.ones(1, 1))
    with pytest.raises(ValueError, match=r"torch\.float32"):
        Fp8Weight.of_blocks(torch.ones(130, 20), torch.ones(2, 1))
