"""The causal convolution: close to its definition, and equal however it is cut."""

import pytest
import segmented as seg
import torch
from torch import Tensor

from isotherm.kernels.api import Kernels
from isotherm.kernels.convolution.reference import causal_conv
from isotherm.kernels.state import ConvShape

SHAPES = [ConvShape(96, 4), ConvShape(24, 3), ConvShape(8, 1), ConvShape(150, 4), ConvShape(40, 4, 3)]


def data(kernels: Kernels, shape: ConvShape, lengths: tuple[int, ...] = seg.LENGTHS) -> tuple[list[Tensor], Tensor]:
    """Inputs of each sequence, and the weight."""
    random = torch.Generator().manual_seed(1)
    inputs = [torch.randn(n, shape.channels, generator=random).to(kernels.dtype) for n in lengths]
    return inputs, torch.randn(shape.channels, shape.width, generator=random)


def run(
    kernels: Kernels, shape: ConvShape, inputs: list[Tensor], weight: Tensor, passes: list[seg.Pass], seed: int = 0
) -> tuple[list[Tensor], dict[tuple[int, int], Tensor], list[Tensor]]:
    """Outputs, histories by (sequence, boundary), and what the lanes hold at the end."""
    ledger = seg.Ledger([len(x) for x in inputs], seed)
    state = kernels.conv_state(shape, ledger.slots, ledger.lane_count)
    seg.poison(state.rows)
    seg.poison(state.history, keep_first=True)
    outputs = seg.play(inputs, passes, ledger, lambda batch, x: kernels.causal_conv(batch, x, weight, state))
    histories = {key: state.history[slot].clone() for key, slot in ledger.kept.items()}
    lanes = [state.rows[ledger.lanes[s], : len(x) % 64].clone() for s, x in enumerate(inputs)]
    return outputs, histories, lanes


def same(a: tuple, b: tuple) -> bool:
    """Equality of all that both runs kept."""
    shared = a[1].keys() & b[1].keys()
    return (
        all(map(seg.equal, a[0], b[0]))
        and all(seg.equal(a[1][key], b[1][key]) for key in shared)
        and all(map(seg.equal, a[2], b[2]))
    )


@pytest.mark.parametrize("name", seg.PROVIDERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_are_close_to_the_definition(name: str, shape: ConvShape) -> None:
    kernels = seg.provider(name)
    inputs, weight = data(kernels, shape)
    outputs, _, _ = run(kernels, shape, inputs, weight, seg.whole(seg.LENGTHS))
    for x, y in zip(inputs, outputs, strict=True):
        torch.testing.assert_close(
            y.double(), causal_conv(x.double(), weight.double(), shape.dilation), rtol=1e-2, atol=1e-5
        )


@pytest.mark.parametrize("name", seg.PROVIDERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_row_at_a_time_and_in_batches_is_equal_to_whole_sequences(name: str, shape: ConvShape) -> None:
    kernels = seg.provider(name)
    inputs, weight = data(kernels, shape)
    expected = run(kernels, shape, inputs, weight, seg.whole(seg.LENGTHS))
    assert same(run(kernels, shape, inputs, weight, seg.one_by_one(seg.LENGTHS), seed=1), expected)
    for seed in range(4):
        assert same(run(kernels, shape, inputs, weight, seg.batched(seg.LENGTHS, seed), seed), expected)


@pytest.mark.parametrize("name", seg.BEST)
def test_every_cut_is_equal(name: str) -> None:
    kernels, shape = seg.provider(name), ConvShape(24, 4)
    inputs, weight = data(kernels, shape, (300,))
    expected = run(kernels, shape, inputs, weight, seg.whole((300,)))
    for cut in range(1, 300):
        assert same(run(kernels, shape, inputs, weight, seg.halves((300,), cut), seed=cut), expected), cut


@pytest.mark.parametrize("name", seg.PROVIDERS)
def test_threads_change_nothing(name: str) -> None:
    shape = ConvShape(200, 4)
    inputs, weight = data(seg.provider(name), shape)
    results = [run(seg.provider(name, n), shape, inputs, weight, seg.batched(seg.LENGTHS, 5)) for n in seg.THREADS]
    assert all(same(result, results[0]) for result in results[1:])


@pytest.mark.parametrize("name", seg.BEST)
def test_the_kept_history_is_the_inputs_before_the_boundary(name: str) -> None:
    kernels, shape = seg.provider(name), ConvShape(24, 4)
    inputs, weight = data(kernels, shape)
    _, histories, lanes = run(kernels, shape, inputs, weight, seg.one_by_one(seg.LENGTHS))
    for (sequence, boundary), history in histories.items():
        assert seg.equal(history, inputs[sequence][boundary - 3 : boundary])
    for x, lane in zip(inputs, lanes, strict=True):
        assert seg.equal(lane, x[len(x) // 64 * 64 :])


@pytest.mark.parametrize("name", seg.BEST)
def test_a_column_range_of_a_wider_matrix_is_an_argument(name: str) -> None:
    kernels, shape = seg.provider(name), ConvShape(24, 4)
    inputs, weight = data(kernels, shape, (100,))
    expected = run(kernels, shape, inputs, weight, seg.whole((100,)))
    ledger = seg.Ledger([100])
    state = kernels.conv_state(shape, ledger.slots, ledger.lane_count)
    wide = torch.full((100, 50), torch.nan, dtype=kernels.dtype)
    wide[:, 7:31] = inputs[0]
    assert seg.equal(kernels.causal_conv(ledger.batch([(0, 100)]), wide[:, 7:31], weight, state), expected[0][0])


@pytest.mark.parametrize("name", seg.BEST)
def test_a_history_one_row_late_is_noticed(name: str) -> None:
    kernels, shape = seg.provider(name), ConvShape(24, 4)
    inputs, weight = data(kernels, shape, (200,))
    expected = run(kernels, shape, inputs, weight, seg.whole((200,)))
    ledger = seg.Ledger([200])
    state = kernels.conv_state(shape, ledger.slots, ledger.lane_count)

    def spoiled(batch: object, x: Tensor) -> Tensor:
        state.history[1:] = state.history[1:].roll(1, dims=1)
        return kernels.causal_conv(batch, x, weight, state)  # type: ignore[arg-type]

    outputs = seg.play(inputs, seg.halves((200,), 128), ledger, spoiled)
    assert seg.differing(outputs[0], expected[0][0]) > 0
