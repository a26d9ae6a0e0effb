"""Norms, gates and rotation on the GPU: close to float64, and a row's bits are its own."""

import pytest
import torch
from row_checks import random_rows, relative, rows_are_their_own

pytest.importorskip("triton", reason="Triton is not installed")

from isotherm.kernels.activation import reference as gates
from isotherm.kernels.activation.triton_form import sigmoid_mul, silu_mul
from isotherm.kernels.api import RopeTable
from isotherm.kernels.norm import reference as norms
from isotherm.kernels.norm.triton_form import gated_rms_norm, rms_norm, sigmoid_gated_rms_norm
from isotherm.kernels.rope.reference import norm_rope as rope_definition
from isotherm.kernels.rope.triton_form import norm_rope

EPS = 1e-6
BOUND = 4e-3
"""One rounding to bfloat16."""


@pytest.mark.parametrize("columns", [64, 100, 1024, 2048, 2560, 5120])
def test_rms_norm(device: torch.device, columns: int) -> None:
    x, weight = random_rows(device, columns), 1 + 0.2 * torch.randn(columns, device=device)
    assert relative(rms_norm(x, weight, EPS), norms.rms_norm(x.double(), weight.double(), EPS)) < BOUND
    rows_are_their_own(lambda x: rms_norm(x, weight, EPS), x)


@pytest.mark.parametrize(("heads", "dim"), [(32, 128), (48, 128), (3, 64), (5, 12)])
def test_gated_norms(device: torch.device, heads: int, dim: int) -> None:
    x, gate = random_rows(device, heads * dim), torch.randn(300, heads * dim, device=device).bfloat16()
    weight = 1 + 0.2 * torch.randn(dim, device=device)
    for call, definition in (
        (gated_rms_norm, norms.gated_rms_norm),
        (sigmoid_gated_rms_norm, norms.sigmoid_gated_rms_norm),
    ):
        expected = definition(x.double(), gate.double(), weight.double(), EPS)
        assert relative(call(x, gate, weight, EPS), expected) < BOUND
        rows_are_their_own(lambda x, gate, call=call: call(x, gate, weight, EPS), x, gate)


@pytest.mark.parametrize("columns", [100, 512, 6144, 17408])
def test_gates(device: torch.device, columns: int) -> None:
    x, gate = torch.randn(2, 300, columns, device=device).bfloat16()
    assert relative(sigmoid_mul(x, gate), gates.sigmoid_mul(x.double(), gate.double())) < BOUND
    assert relative(silu_mul(x), gates.silu_mul(x.double())) < BOUND
    rows_are_their_own(sigmoid_mul, x, gate)
    rows_are_their_own(silu_mul, x)


@pytest.mark.parametrize(("heads", "dim", "half"), [(16, 256, 32), (2, 256, 32), (24, 128, 64), (3, 64, 5)])
def test_norm_and_rotation(device: torch.device, heads: int, dim: int, half: int) -> None:
    angles = torch.rand(5000, half, device=device) * 6
    table = RopeTable(angles.cos(), angles.sin())
    x, weight = random_rows(device, heads * dim), 1 + 0.2 * torch.randn(dim, device=device)
    positions = torch.randint(0, 5000, (300, 1), device=device, dtype=torch.int32)
    expected = rope_definition(
        x.double(), weight.double(), EPS, positions[:, 0], table.cos.double(), table.sin.double()
    )
    assert relative(norm_rope(x, weight, EPS, positions[:, 0].contiguous(), table), expected) < BOUND
    rows_are_their_own(
        lambda x, at: norm_rope(x, weight, EPS, at[:, 0].contiguous(), table), x, positions, strided=False
    )
    wide = torch.cat([x[:, :3], x], 1)[:, 3:]
    at = positions[:, 0].contiguous()
    assert torch.equal(norm_rope(wide, weight, EPS, at, table), norm_rope(x, weight, EPS, at, table))
