"""The gated delta rule on the GPU: close to the recurrence, and equal however it is cut, to every bit that a sequence keeps."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import segmented as seg
import torch
from torch import Tensor

pytest.importorskip("triton", reason="Triton is not installed")

from isotherm.kernels.gated_delta import triton_form
from isotherm.kernels.gated_delta.reference import gated_delta as recurrence
from isotherm.kernels.gated_delta.triton_form import DeltaTile, delta_state, gated_delta
from isotherm.kernels.state import DeltaShape, DeltaState

LENGTHS = (300, 64, 1, 63, 65, 129, 200)
SHAPES = [DeltaShape(2, 4, 128, 128), DeltaShape(1, 3, 64, 32), DeltaShape(16, 32, 128, 128)]
TILES = [DeltaTile(), DeltaTile(16, 4, 2, 32, 1, 32, 4), DeltaTile(64, 8, 1, 128, 4, 128, 8)]


@dataclass
class Kept:
    """Outputs, states by (sequence, boundary), and the lane rows that count."""

    outputs: list[Tensor]
    states: dict[tuple[int, int], Tensor]
    lanes: list[Tensor]

    def equals(self, other: "Kept") -> bool:
        shared = self.states.keys() & other.states.keys()
        pairs = [*zip(self.outputs, other.outputs, strict=True), *zip(self.lanes, other.lanes, strict=True)]
        return all(seg.equal(a, b) for a, b in (*pairs, *((self.states[key], other.states[key]) for key in shared)))


@dataclass
class Layer:
    """Random inputs [T, qkv | b | a] of each sequence, with correlated keys, and the heads' constants."""

    shape: DeltaShape
    rows: list[Tensor]
    decay: Tensor
    dt_bias: Tensor

    @staticmethod
    def random(shape: DeltaShape, device: torch.device) -> "Layer":
        keys, heads = shape.key_heads * shape.key_dim, shape.value_heads
        rows = [torch.randn(n, 2 * keys + heads * shape.value_dim + 2 * heads, device=device) for n in LENGTHS]
        common = torch.randn(keys, device=device)
        for x in rows:
            x[:, keys : 2 * keys] = 0.6 * x[:, keys : 2 * keys] + common
        decay = -(0.05 + 0.3 * torch.rand(heads, device=device))
        return Layer(shape, [x.bfloat16() for x in rows], decay, torch.randn(heads, device=device))

    def split(self, x: Tensor) -> list[Tensor]:
        heads = self.shape.value_heads
        return list(x.split([x.shape[1] - 2 * heads, heads, heads], dim=1))

    def run(
        self,
        passes: list[seg.Pass],
        seed: int = 0,
        tile: DeltaTile = TILES[0],
        spoil: Callable[[Tensor], object] = lambda state: None,
    ) -> Kept:
        """`spoil` meddles with the states before each pass."""
        ledger = seg.Ledger(LENGTHS, seed)
        state = delta_state(torch.bfloat16, self.shape, ledger.slots, ledger.lane_count, self.decay.device)
        seg.poison(*state.rows.values())
        seg.poison(state.state, keep_first=True)

        def call(batch: object, x: Tensor) -> Tensor:
            spoil(state.state)
            return gated_delta(batch, *self.split(x), self.decay, self.dt_bias, state, tile)  # type: ignore[arg-type]

        outputs = seg.play(self.rows, passes, ledger, call)
        lanes = [part for s, n in enumerate(LENGTHS) for part in lane_rows(state, ledger.lanes[s], n % 64)]
        return Kept(outputs, {key: state.state[slot].clone() for key, slot in ledger.kept.items()}, lanes)


def lane_rows(state: DeltaState, lane: int, rows: int) -> list[Tensor]:
    """What a lane holds of `rows` rows since the last boundary."""
    if not rows:
        return []
    parts = [state.rows[name][lane][:, :rows].clone() for name in ("k", "v", "x", "u", "G", "beta")]
    inverse = state.rows["D"][lane].reshape(state.shape.value_heads, 64, 32)[:, :rows].clone()
    return [*parts, inverse, state.rows["h"][lane].clone()]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_and_states_are_close_to_the_recurrence(device: torch.device, shape: DeltaShape) -> None:
    layer = Layer.random(shape, device)
    kept = layer.run(seg.whole(LENGTHS))
    for sequence in (0, 6):
        x = layer.rows[sequence].double().cpu()
        outputs, _ = recurrence(*layer.split(x), layer.decay.double().cpu(), layer.dt_bias.double().cpu(), shape)
        assert float((kept.outputs[sequence].double().cpu() - outputs).norm() / outputs.norm()) < 1e-2
        boundary = LENGTHS[sequence] // 64 * 64
        parts = layer.split(x[:boundary])
        _, state = recurrence(*parts, layer.decay.double().cpu(), layer.dt_bias.double().cpu(), shape)
        assert float((kept.states[sequence, boundary].double().cpu() - state).norm() / state.norm()) < 1e-2


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_alone_in_batches_and_in_other_tiles_are_equal_to_whole_sequences(
    device: torch.device, shape: DeltaShape
) -> None:
    layer = Layer.random(shape, device)
    expected = layer.run(seg.whole(LENGTHS))
    assert layer.run(seg.one_by_one(LENGTHS), seed=1).equals(expected)
    for seed in range(6):
        assert layer.run(seg.batched(LENGTHS, seed), seed, TILES[seed % len(TILES)]).equals(expected), seed


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_does_not_matter_which_launch_prepares_rows_that_go_alone(
    device: torch.device, shape: DeltaShape, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer, found = Layer.random(shape, device), []
    for most in (0, len(LENGTHS)):
        monkeypatch.setattr(triton_form, "PACKED_ALONE", most)
        found.append(layer.run(seg.one_by_one(LENGTHS)))
    assert found[0].equals(found[1])


def test_a_rounded_state_is_noticed(device: torch.device) -> None:
    """The suite can fail: a state kept in 16 bits between two passes gives other bits."""
    layer = Layer.random(SHAPES[0], device)
    expected = layer.run(seg.whole(LENGTHS))
    rounded = layer.run(seg.batched(LENGTHS, 0), spoil=lambda state: state.copy_(state.bfloat16().float()))
    assert layer.run(seg.batched(LENGTHS, 0)).equals(expected)
    assert not seg.equal(rounded.outputs[0], expected.outputs[0])
