"""The convolution and the shift on the GPU: close to their definitions, and equal however sequences are cut, kept inputs too."""

from collections.abc import Callable

import pytest
import segmented as seg
import torch
from row_checks import relative
from torch import Tensor

pytest.importorskip("triton", reason="Triton is not installed")

from isotherm.kernels.batch import Batch
from isotherm.kernels.convolution.reference import causal_conv as definition
from isotherm.kernels.convolution.triton_form import causal_conv, conv_state
from isotherm.kernels.shift.triton_form import shift
from isotherm.kernels.state import ConvShape, ConvState

LENGTHS = (300, 64, 1, 63, 65, 129, 700)
SHAPES = [ConvShape(8192, 4), ConvShape(100, 4), ConvShape(2048, 3, 2)]

Call = Callable[[Batch, Tensor, ConvState], Tensor]


def run(shape: ConvShape, inputs: list[Tensor], call: Call, passes: list[seg.Pass], seed: int) -> list[Tensor]:
    """Outputs; checks what slots and lanes hold, to the bit."""
    ledger = seg.Ledger(LENGTHS, seed)
    state = conv_state(torch.bfloat16, shape, ledger.slots, ledger.lane_count, inputs[0].device)
    seg.poison(state.rows)
    seg.poison(state.history, keep_first=True)
    outputs = seg.play(inputs, passes, ledger, lambda batch, x: call(batch, x, state))
    for (sequence, boundary), slot in ledger.kept.items():
        padded = torch.nn.functional.pad(inputs[sequence][:boundary], (0, 0, shape.history, 0))
        assert seg.equal(state.history[slot], padded[boundary:])
    for sequence, n in enumerate(LENGTHS):
        assert seg.equal(state.rows[ledger.lanes[sequence], : n % 64], inputs[sequence][n // 64 * 64 :])
    assert not state.history[0].any()
    return outputs


def same_however_cut(shape: ConvShape, inputs: list[Tensor], call: Call) -> list[Tensor]:
    expected = run(shape, inputs, call, seg.whole(LENGTHS), 0)
    ways = [seg.one_by_one(LENGTHS), *(seg.batched(LENGTHS, seed) for seed in range(6))]
    for seed, passes in enumerate(ways):
        for a, b in zip(run(shape, inputs, call, passes, seed), expected, strict=True):
            assert seg.equal(a, b), seed
    return expected


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_convolution(device: torch.device, shape: ConvShape) -> None:
    inputs = [torch.randn(n, shape.channels, device=device).bfloat16() for n in LENGTHS]
    weight = torch.randn(shape.channels, shape.width, device=device)
    outputs = same_however_cut(shape, inputs, lambda batch, x, state: causal_conv(batch, x, weight, state))
    for x, y in zip(inputs, outputs, strict=True):
        assert relative(y, definition(x.double(), weight.double(), shape.dilation)) < 4e-3


def test_the_shift(device: torch.device) -> None:
    shape = ConvShape(2048, 2)
    inputs = [torch.randn(n, shape.channels, device=device).bfloat16() for n in LENGTHS]
    for x, y in zip(inputs, same_however_cut(shape, inputs, shift), strict=True):
        assert torch.equal(y[1:], x[:-1]) and not y[0].any()
