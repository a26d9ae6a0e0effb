"""Mixture of experts for test_triton_interpreted.py; not a test by itself. See triton_cases."""

import sys

import torch
from torch import Tensor
from triton_cases import CPU, close, run_case, whole_numbers

from isotherm.kernels.api import Groups
from isotherm.kernels.experts import triton_form as experts_form
from isotherm.kernels.experts.reference import grouped_linear as product_definition
from isotherm.kernels.routing import reference
from isotherm.kernels.routing import triton_form as form
from isotherm.kernels.routing.group import group as group_on_the_cpu
from isotherm.kernels.weight import FP8, Fp8Weight


def chosen(rows: int, e: int, k: int) -> Tensor:
    """[rows, k] ascending ids, one expert much likelier than the rest and one never."""
    weights = torch.rand(rows, e)
    weights[:, 1], weights[:, e - 2] = 2.0, -1.0
    return weights.sort(1, descending=True).indices[:, :k].sort(1).values.int()


def route() -> None:
    logits = torch.randn(9, 23)[:, 3:]
    logits[2] = 0.5
    logits[3, [0, 5, 19]] = 7.0
    for k, renormalize in ((4, True), (1, False), (20, True)):
        ours, expected = form.route(logits, k, renormalize), reference.route(logits.double(), k, renormalize)
        assert torch.equal(ours.experts, expected.experts)
        close(ours.weights, expected.weights)
    logits[4], logits[5, :18] = torch.nan, -torch.inf
    ids = form.route(logits, 4, True).experts
    assert ids[4].tolist() == [0, 1, 2, 3] and ids[5].tolist() == [0, 1, 18, 19]


def group() -> None:
    for rows, e, k in ((1, 20, 4), (70, 20, 4), (130, 5, 3), (900, 20, 2)):
        experts = chosen(rows, e, k)
        for chunk in (0, 64) if rows < 200 else (0,):
            same(form.group(experts, e, chunk), group_on_the_cpu(experts, e), rows * k)


def same(ours: form.DeviceGroups, expected: Groups, pairs: int) -> None:
    for name in ("rows", "offsets", "places"):
        assert torch.equal(getattr(ours, name), getattr(expected, name)), name
    covered = []
    for expert, first, end, _ in ours.tiles.tolist():
        if expert >= 0:
            assert expected.offsets[expert] <= first < end <= expected.offsets[expert + 1]
            assert end - first == ours.height or end == expected.offsets[expert + 1]
            covered.extend(range(first, end))
    assert covered == list(range(pairs))


def layer() -> None:
    e, k, n, width = 6, 3, 20, 40
    for rows in (1, 30, 100, 200):
        x, weight = torch.randn(rows, width + 3)[:, 3:], torch.randn(e, n, width)
        routing = form.route(torch.randn(rows, e), k, True)
        groups = form.group(routing.experts, e)
        packed = experts_form.pack_experts(torch.float32, weight, CPU)
        pairs = experts_form.grouped_linear(x, packed, groups, gather=True)
        expected = product_definition(x.double(), weight.double(), groups, gather=True)
        close(pairs, expected)
        taken = x[groups.rows.long()]
        assert torch.equal(experts_form.grouped_linear(taken, packed, groups, gather=False), pairs)
        wide = torch.randn(rows, 2 * n + 1)
        residual, shared, gate = wide[:, :n], wide[:, n : 2 * n], wide[:, 2 * n :]
        for one, other in ((shared, gate), (shared, None), (None, None)):
            close(
                form.combine(pairs, routing, groups, one, other, residual),
                reference.combine(
                    expected,
                    routing,
                    groups,
                    *(x if x is None else x.double() for x in (one, other)),
                    residual.double(),
                ),
            )


def fp8() -> None:
    """Experts in FP8 are the experts that they stand for; numbers as in triton_cases.fp8."""
    e, k, n, width, rows = 4, 2, 140, 130, 20
    x, q = whole_numbers(rows, width), whole_numbers(e, n, width).to(FP8)
    weight = Fp8Weight.of_blocks(q, 2.0 ** torch.randint(-9, -3, (e, 2, 2)))
    groups = form.group(chosen(rows, e, k), e)
    ours, stands_for = experts_form.pack_experts(torch.float32, weight, CPU), weight.dequantized().double()
    for gather, inputs in ((True, x), (False, x[groups.rows.long()])):
        pairs = experts_form.grouped_linear(inputs, ours, groups, gather)
        assert torch.equal(pairs.double(), product_definition(inputs.double(), stands_for, groups, gather))


if __name__ == "__main__":
    run_case({"route": route, "group": group, "layer": layer, "fp8": fp8}[sys.argv[1]])
