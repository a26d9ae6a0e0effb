"""Norms, gates, rotation, convolution and shift for test_triton_interpreted.py; not a test by itself. See triton_cases."""

import sys
from collections.abc import Callable

import segmented as seg
import torch
from torch import Tensor
from triton_cases import CPU, close, run_case

from isotherm.kernels.activation import reference as gates
from isotherm.kernels.activation import triton_form as activation_form
from isotherm.kernels.api import RopeTable
from isotherm.kernels.batch import Batch
from isotherm.kernels.convolution import triton_form as conv_form
from isotherm.kernels.convolution.reference import causal_conv as conv_definition
from isotherm.kernels.norm import reference as norms
from isotherm.kernels.norm import triton_form as norm_form
from isotherm.kernels.rope import triton_form as rope_form
from isotherm.kernels.rope.reference import norm_rope as rope_definition
from isotherm.kernels.shift.triton_form import shift
from isotherm.kernels.state import ConvShape, ConvState

EPS = 1e-6


def part(rows: int, columns: int, first: int = 3) -> Tensor:
    """A column range of a wider matrix: strided, and not aligned."""
    return torch.randn(rows, columns + 7)[:, first : first + columns]


def norm() -> None:
    x, weight = part(5, 50), 1 + torch.randn(50)
    close(norm_form.rms_norm(x, weight, EPS), norms.rms_norm(x.double(), weight.double(), EPS))
    x, gate, weight = part(4, 60), part(4, 60, 0), 1 + torch.randn(12)
    operands = [x.double().contiguous(), gate.double().contiguous(), weight.double()]
    close(norm_form.gated_rms_norm(x, gate, weight, EPS), norms.gated_rms_norm(*operands, EPS))
    close(norm_form.sigmoid_gated_rms_norm(x, gate, weight, EPS), norms.sigmoid_gated_rms_norm(*operands, EPS))


def activation() -> None:
    for rows in (3, 70):
        x, gate = part(rows, 40), part(rows, 40, 1)
        close(activation_form.silu_mul(x), gates.silu_mul(x.double()))
        close(activation_form.sigmoid_mul(x, gate), gates.sigmoid_mul(x.double(), gate.double()))


def rope() -> None:
    angles = torch.rand(40, 5) * 6
    table = RopeTable(angles.cos(), angles.sin())
    positions, weight = torch.tensor([0, 39, 7], dtype=torch.int32), 1 + torch.randn(16)
    for x in (part(3, 3 * 16), torch.randn(3, 16)):
        operands = positions, table.cos.double(), table.sin.double()
        expected = rope_definition(x.double(), weight.double(), EPS, *operands)
        close(rope_form.norm_rope(x, weight, EPS, positions, table), expected)


LENGTHS = (140, 64, 70, 1)


def kept_exactly(
    shape: ConvShape,
    call: Callable[[Batch, Tensor, ConvState], Tensor],
    definition: Callable[[Tensor], Tensor],
    bound: float,
) -> None:
    """Outputs as the definition has them, and slots and lanes with the inputs that belong there, however the passes are cut."""
    inputs = [torch.randn(n, shape.channels) for n in LENGTHS]
    mixed = [[(0, 60), (2, 3)], [(2, 67), (0, 70), (1, 64), (3, 1)], [(0, 10)]]
    for passes in (seg.whole(LENGTHS), mixed, seg.batched(LENGTHS, 1), seg.batched(LENGTHS, 2)):
        ledger = seg.Ledger(LENGTHS, 3)
        state = conv_form.conv_state(torch.float32, shape, ledger.slots, ledger.lane_count, CPU)
        seg.poison(state.rows)
        seg.poison(state.history, keep_first=True)
        outputs = seg.play(inputs, passes, ledger, lambda batch, x, state=state: call(batch, x, state))
        for x, y in zip(inputs, outputs, strict=True):
            assert float((y.double() - definition(x.double())).abs().max()) <= bound
        for (sequence, boundary), slot in ledger.kept.items():
            padded = torch.cat([torch.zeros(shape.history, shape.channels), inputs[sequence][:boundary]])
            assert torch.equal(state.history[slot], padded[boundary:])
        for sequence, n in enumerate(LENGTHS):
            assert torch.equal(state.rows[ledger.lanes[sequence], : n % 64], inputs[sequence][n // 64 * 64 :])
        assert not state.history[0].any()


def convolution() -> None:
    for shape in (ConvShape(20, 4), ConvShape(20, 3, 2)):
        weight = torch.randn(shape.channels, shape.width)
        kept_exactly(
            shape,
            lambda batch, x, state, weight=weight: conv_form.causal_conv(batch, x, weight, state),
            lambda x, weight=weight, shape=shape: conv_definition(x, weight.double(), shape.dilation),
            1e-5,
        )


def shifted() -> None:
    kept_exactly(ConvShape(20, 2), shift, lambda x: torch.cat([torch.zeros_like(x[:1]), x[:-1]]), 0.0)


if __name__ == "__main__":
    cases = {"norm": norm, "activation": activation, "rope": rope, "convolution": convolution, "shift": shifted}
    run_case(cases[sys.argv[1]])
