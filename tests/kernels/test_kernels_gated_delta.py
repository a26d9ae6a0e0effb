"""The gated delta rule: close to the recurrence, and equal however it is cut, to every bit that a sequence keeps."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import segmented as seg
import torch
from torch import Tensor

from isotherm.kernels.api import Kernels
from isotherm.kernels.gated_delta.reference import gated_delta
from isotherm.kernels.state import DeltaShape, DeltaState

SHAPES = [
    DeltaShape(key_heads=2, value_heads=4, key_dim=16, value_dim=16),
    DeltaShape(key_heads=1, value_heads=1, key_dim=8, value_dim=24),
    DeltaShape(key_heads=2, value_heads=2, key_dim=24, value_dim=8),
    DeltaShape(key_heads=1, value_heads=3, key_dim=33, value_dim=96),
]
SMALL = SHAPES[0]
KINDS = ("plain", "weak", "strong", "correlated")


@dataclass
class Data:
    """Rows [T, qkv | b | a] of each sequence in the activation type, and the heads' constants."""

    rows: list[Tensor]
    decay: Tensor
    dt_bias: Tensor


def data(kernels: Kernels, shape: DeltaShape, kind: str, lengths: tuple[int, ...]) -> Data:
    random = torch.Generator().manual_seed(2)
    heads, keys = shape.value_heads, shape.key_heads * shape.key_dim
    width = 2 * keys + heads * shape.value_dim
    rows = [torch.randn(n, width + 2 * heads, generator=random) for n in lengths]
    if kind == "correlated":
        common = torch.randn(keys, generator=random)
        for x in rows:
            x[:, keys : 2 * keys] = 0.3 * x[:, keys : 2 * keys] + common
    size = {"weak": 1e-3, "strong": 20.0}.get(kind, 0.5)
    decay = -size * (0.5 + torch.rand(heads, generator=random))
    return Data([x.to(kernels.dtype) for x in rows], decay, torch.randn(heads, generator=random))


@dataclass
class Kept:
    """What a run leaves: outputs, states by (sequence, boundary), and the lane rows that count."""

    outputs: list[Tensor]
    states: dict[tuple[int, int], Tensor]
    lanes: list[list[Tensor]]

    def equals(self, other: "Kept") -> bool:
        shared = self.states.keys() & other.states.keys()
        return (
            all(map(seg.equal, self.outputs, other.outputs))
            and all(seg.equal(self.states[key], other.states[key]) for key in shared)
            and all(
                seg.equal(a, b) for x, y in zip(self.lanes, other.lanes, strict=True) for a, b in zip(x, y, strict=True)
            )
        )


def lane_rows(kernels: Kernels, state: DeltaState, lane: int, rows: int) -> list[Tensor]:
    """The first `rows` rows of a lane, in either provider's layout."""
    k, u, total = (state.rows[name][lane] for name in ("k", "u", "G"))
    if kernels.fingerprint()["kernels"] == "torch":
        return [k[:rows].clone(), u[:rows].clone(), total[:rows].clone()]
    return [k[..., :rows].clone(), u[:, :rows].clone(), total[:, :rows].clone()]


def run(
    kernels: Kernels,
    shape: DeltaShape,
    data: Data,
    passes: list[seg.Pass],
    seed: int = 0,
    spoil: Callable[[DeltaState], None] = lambda state: None,
) -> Kept:
    """`spoil` meddles with the state before each pass."""
    ledger = seg.Ledger([len(x) for x in data.rows], seed)
    state = kernels.delta_state(shape, ledger.slots, ledger.lane_count)
    seg.poison(*state.rows.values())
    seg.poison(state.state, keep_first=True)
    width = data.rows[0].shape[1] - 2 * shape.value_heads

    def call(batch: object, x: Tensor) -> Tensor:
        spoil(state)
        qkv, b, a = x[:, :width], x[:, width : width + shape.value_heads], x[:, width + shape.value_heads :]
        return kernels.gated_delta(batch, qkv, b, a, data.decay, data.dt_bias, state)  # type: ignore[arg-type]

    outputs = seg.play(data.rows, passes, ledger, call)
    states = {key: state.state[slot].clone() for key, slot in ledger.kept.items()}
    lanes = [lane_rows(kernels, state, ledger.lanes[s], len(x) % 64) for s, x in enumerate(data.rows)]
    return Kept(outputs, states, lanes)


def exact(data: Data, shape: DeltaShape, sequence: int) -> tuple[Tensor, Tensor]:
    """Outputs and final state of the recurrence in float64."""
    x = data.rows[sequence].double()
    heads = shape.value_heads
    width = x.shape[1] - 2 * heads
    parts = x[:, :width], x[:, width : width + heads], x[:, width + heads :]
    return gated_delta(*parts, data.decay.double(), data.dt_bias.double(), shape)


def relative(a: Tensor, b: Tensor) -> float:
    return float((a.double() - b).norm() / b.norm())


@pytest.mark.parametrize("name", seg.PROVIDERS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_and_states_are_close_to_the_recurrence(name: str, kind: str, shape: DeltaShape) -> None:
    kernels, lengths = seg.provider(name), (200, 64)
    inputs = data(kernels, shape, kind, lengths)
    kept = run(kernels, shape, inputs, seg.whole(lengths))
    bound = 3e-3 if kernels.dtype == torch.bfloat16 else 2e-5
    for sequence, n in enumerate(lengths):
        outputs, _ = exact(inputs, shape, sequence)
        assert relative(kept.outputs[sequence], outputs) < bound
        boundary = n // 64 * 64
        _, state = exact(Data([inputs.rows[sequence][:boundary]], inputs.decay, inputs.dt_bias), shape, 0)
        assert relative(kept.states[sequence, boundary][..., : shape.value_dim], state) < 2e-5


@pytest.mark.parametrize("name", seg.PROVIDERS)
@pytest.mark.parametrize("kind", KINDS)
def test_one_row_at_a_time_and_in_batches_is_equal_to_whole_sequences(name: str, kind: str) -> None:
    kernels, lengths = seg.provider(name), seg.lengths(name)
    inputs = data(kernels, SMALL, kind, lengths)
    expected = run(kernels, SMALL, inputs, seg.whole(lengths))
    assert run(kernels, SMALL, inputs, seg.one_by_one(lengths), seed=1).equals(expected)
    for seed in range(3):
        assert run(kernels, SMALL, inputs, seg.batched(lengths, seed), seed).equals(expected)


@pytest.mark.parametrize("name", [name for name in seg.PROVIDERS if name.startswith("c-")])
@pytest.mark.parametrize("shape", SHAPES[1:], ids=str)
def test_head_sizes_that_fill_no_vector_are_equal_too(name: str, shape: DeltaShape) -> None:
    kernels = seg.provider(name)
    inputs = data(kernels, shape, "plain", seg.LENGTHS)
    expected = run(kernels, shape, inputs, seg.whole(seg.LENGTHS))
    assert run(kernels, shape, inputs, seg.one_by_one(seg.LENGTHS), seed=1).equals(expected)
    assert run(kernels, shape, inputs, seg.batched(seg.LENGTHS, 3), seed=3).equals(expected)


@pytest.mark.parametrize("name", seg.BEST)
def test_base_head_size_is_equal_row_by_row(name: str) -> None:
    kernels, shape = seg.provider(name), DeltaShape(2, 4, 128, 128)
    inputs = data(kernels, shape, "plain", (200,))
    expected = run(kernels, shape, inputs, seg.whole((200,)))
    assert run(kernels, shape, inputs, seg.one_by_one((200,)), seed=1).equals(expected)
    assert run(kernels, shape, inputs, seg.batched((200,), 2), seed=2).equals(expected)


@pytest.mark.parametrize("name", seg.BEST)
def test_every_cut_is_equal(name: str) -> None:
    kernels = seg.provider(name)
    inputs = data(kernels, SMALL, "plain", (300,))
    expected = run(kernels, SMALL, inputs, seg.whole((300,)))
    for cut in range(1, 300):
        assert run(kernels, SMALL, inputs, seg.halves((300,), cut), seed=cut).equals(expected), cut


@pytest.mark.parametrize("name", seg.PROVIDERS)
def test_threads_change_nothing(name: str) -> None:
    inputs = data(seg.provider(name), SMALL, "plain", seg.lengths(name))
    passes = seg.batched(seg.lengths(name), 5)
    results = [run(seg.provider(name, threads), SMALL, inputs, passes) for threads in seg.THREADS]
    assert all(result.equals(results[0]) for result in results[1:])


@pytest.mark.parametrize("name", seg.BEST)
def test_what_is_kept_is_finite_and_the_zero_slot_stays_zero(name: str) -> None:
    kernels = seg.provider(name)
    kept = run(kernels, SHAPES[1], data(kernels, SHAPES[1], "plain", seg.LENGTHS), seg.batched(seg.LENGTHS, 1))
    assert all(x.isfinite().all() for x in (*kept.outputs, *kept.states.values()))
    assert all(part.isfinite().all() for lane in kept.lanes for part in lane)


def round_states(state: DeltaState) -> None:
    """The broken rule: state kept in 16 bits."""
    state.state.copy_(state.state.bfloat16().float())


def round_keys(state: DeltaState) -> None:
    """The broken rule: a value rounded after the pass that made it."""
    state.rows["k"].copy_(state.rows["k"].bfloat16().float())


@pytest.mark.parametrize("name", seg.BEST)
@pytest.mark.parametrize("spoil", [round_states, round_keys])
def test_a_broken_rule_is_noticed(name: str, spoil: Callable[[DeltaState], None]) -> None:
    kernels = seg.provider(name)
    inputs = data(kernels, SMALL, "weak", (300,))
    expected = run(kernels, SMALL, inputs, seg.whole((300,)))
    assert not run(kernels, SMALL, inputs, seg.halves((300,), 100), spoil=spoil).equals(expected)


@pytest.mark.parametrize("name", seg.BEST)
def test_the_token_recurrence_would_not_be_equal(name: str) -> None:
    """Why there is one form: the recurrence in float32 is as close, and differs."""
    kernels = seg.provider(name)
    inputs = data(kernels, SMALL, "plain", (200,))
    x = inputs.rows[0].float()
    heads = SMALL.value_heads
    width = x.shape[1] - 2 * heads
    parts = x[:, :width], x[:, width : width + heads], x[:, width + heads :]
    rows, _ = gated_delta(*parts, inputs.decay, inputs.dt_bias, SMALL)
    expected = run(kernels, SMALL, inputs, seg.whole((200,))).outputs[0]
    assert seg.differing(rows.to(kernels.dtype), expected) > 0
