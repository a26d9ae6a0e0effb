"""Mixture of experts on the GPU: close to the definition, and a row's bits are its own whatever else the experts are given."""

from dataclasses import dataclass

import pytest
import torch
from row_checks import relative, rows_are_their_own
from segmented import equal
from torch import Tensor

pytest.importorskip("triton", reason="Triton is not installed")

from isotherm.kernels.api import Experts
from isotherm.kernels.experts.reference import grouped_linear as product_definition
from isotherm.kernels.experts.triton_form import FEW, TILES, grouped_linear, pack_experts
from isotherm.kernels.linear.tiles import TileTable
from isotherm.kernels.linear.triton_form import linear, pack
from isotherm.kernels.routing import reference
from isotherm.kernels.routing import triton_form as routing
from isotherm.kernels.routing.group import group as group_on_the_cpu
from isotherm.kernels.weight import FP8, Fp8Weight


@dataclass(frozen=True)
class Shape:
    """e experts of n columns from k; `active` a row."""

    e: int
    active: int
    n: int
    k: int


SHAPES = [Shape(512, 10, 1024, 2048), Shape(128, 8, 512, 96), Shape(7, 3, 100, 512)]


def weights(shape: Shape, device: torch.device) -> Experts:
    return pack_experts(torch.bfloat16, torch.randn(shape.e, shape.n, shape.k, device=device) * 0.02, device)


def inputs(shape: Shape, rows: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Rows, and router logits under which some experts are likelier than others."""
    logits = torch.randn(rows, shape.e, device=device) + torch.linspace(0, 2, shape.e, device=device)
    return torch.randn(rows, shape.k, device=device).bfloat16(), logits


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_routing(device: torch.device, shape: Shape) -> None:
    _, logits = inputs(shape, 300, device)
    logits[:50] = logits[:50].round()  # many ties
    for renormalize in (True, False):
        ours = routing.route(logits, shape.active, renormalize)
        expected = reference.route(logits.double(), shape.active, renormalize)
        assert torch.equal(ours.experts, expected.experts)
        assert relative(ours.weights, expected.weights) < 1e-6
    rows_are_their_own(lambda x: routing.route(x, shape.active, True).weights, logits)


@pytest.mark.parametrize("rows", [1, 3, 33, 400, 4000])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_groups_are_those_of_the_cpu(device: torch.device, shape: Shape, rows: int) -> None:
    experts = routing.route(inputs(shape, rows, device)[1], shape.active, True).experts
    ours, expected = routing.group(experts, shape.e), group_on_the_cpu(experts.cpu(), shape.e)
    for name in ("rows", "offsets", "places"):
        assert torch.equal(getattr(ours, name).cpu(), getattr(expected, name)), name
    live = ours.tiles[ours.tiles[:, 0] >= 0].long()
    assert int((live[:, 2] - live[:, 1]).sum()) == rows * shape.active
    assert torch.equal(ours.offsets[live[:, 0]] <= live[:, 1], ours.offsets[live[:, 0] + 1] >= live[:, 2])


def layer(x: Tensor, logits: Tensor, up: Experts, down: Experts, residual: Tensor, active: int) -> Tensor:
    chosen = routing.route(logits, active, True)
    groups = routing.group(chosen.experts, up.e)
    pairs = grouped_linear(grouped_linear(x, up, groups, gather=True), down, groups, gather=False)
    return routing.combine(pairs, chosen, groups, x, logits.bfloat16()[:, :1], residual)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_row_of_a_layer_is_its_own(device: torch.device, shape: Shape) -> None:
    up, down = weights(shape, device), weights(Shape(shape.e, shape.active, shape.k, shape.n), device)
    x, logits = inputs(shape, 300, device)
    residual = torch.randn(300, shape.k, device=device).bfloat16()
    rows_are_their_own(lambda *rows: layer(*rows[:2], up, down, rows[2], shape.active), x, logits, residual)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_pair_is_the_linear_layers_row_in_every_tile(device: torch.device, shape: Shape) -> None:
    experts = weights(shape, device)
    x, logits = inputs(shape, 3000, device)
    chosen = routing.route(logits, shape.active, True).experts
    groups = routing.group(chosen, shape.e)
    pairs = grouped_linear(x, experts, groups, gather=True)
    assert relative(pairs, product_definition(x.double(), experts.data.double(), groups, gather=True)) < 4e-3
    assert equal(grouped_linear(x[groups.rows.long()], experts, groups, gather=False), pairs)
    few = routing.group(chosen[:40], shape.e)  # other tiles
    assert few.height < groups.height
    by_tile = [grouped_linear(x, experts, few, True, tiles) for tiles in (TILES, FEW)]
    assert equal(*by_tile)
    ours, alone = few.places.flatten().long(), groups.places[:40].flatten().long()
    assert equal(grouped_linear(x, experts, few, gather=True)[ours], pairs[alone])
    for expert in (0, shape.e // 2, shape.e - 1):
        own = slice(int(groups.offsets[expert]), int(groups.offsets[expert + 1]))
        if own.start < own.stop:
            weight = pack(torch.bfloat16, experts.data[expert], device)
            assert equal(linear(TileTable({}, {}), x[groups.rows[own].long()], weight), pairs[own])
    assert len(TILES) == 3


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_combination_is_close_to_the_definition(device: torch.device, shape: Shape) -> None:
    _, logits = inputs(shape, 50, device)
    chosen = routing.route(logits, shape.active, True)
    groups = routing.group(chosen.experts, shape.e)
    pairs = torch.randn(50 * shape.active, shape.n, device=device).bfloat16()
    residual, shared = torch.randn(2, 50, shape.n, device=device).bfloat16()
    gate = logits.bfloat16()[:, :1]
    for one, other in ((shared, gate), (shared, None), (None, None)):
        doubles = (None if x is None else x.double() for x in (one, other))
        expected = reference.combine(pairs.double(), chosen, groups, *doubles, residual.double())
        assert relative(routing.combine(pairs, chosen, groups, one, other, residual), expected) < 4e-3


def test_a_layer_can_be_recorded_in_a_graph(device: torch.device) -> None:
    shape = SHAPES[0]
    up, down = weights(shape, device), weights(Shape(shape.e, shape.active, shape.k, shape.n), device)
    first, second = ((*inputs(shape, 32, device), torch.randn(32, shape.k, device=device).bfloat16()) for _ in range(2))
    expected = layer(*second[:2], up, down, second[2], shape.active)
    layer(*first[:2], up, down, first[2], shape.active)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        recorded = layer(*first[:2], up, down, first[2], shape.active)
    for old, new in zip(first, second, strict=True):
        old.copy_(new)
    graph.replay()
    assert equal(recorded, expected)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_experts_in_fp8_are_the_experts_they_stand_for(device: torch.device, shape: Shape) -> None:
    q = (torch.randn(shape.e, shape.n, shape.k, device=device) * 30).to(FP8)
    scales = torch.rand(shape.e, -(-shape.n // 128), -(-shape.k // 128), device=device) * 1e-3
    weight = Fp8Weight.of_blocks(q, scales)
    ours, same = (pack_experts(torch.bfloat16, each, device) for each in (weight, weight.dequantized()))
    for rows in (1, 40, 3000, 8000):
        x, logits = inputs(shape, rows, device)
        groups = routing.group(routing.route(logits, shape.active, True).experts, shape.e)
        assert equal(grouped_linear(x, ours, groups, gather=True), grouped_linear(x, same, groups, gather=True)), rows
