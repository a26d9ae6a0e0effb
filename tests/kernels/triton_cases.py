"""What test_triton_interpreted.py runs in a process with TRITON_INTERPRET=1. Not a test by itself."""

import sys
from collections.abc import Callable
from functools import partial

import numpy
import segmented as seg
import torch
from torch import Tensor

from isotherm.kernels.attention import plan
from isotherm.kernels.attention import triton_form as attention_form
from isotherm.kernels.attention.reference import attention as attention_definition
from isotherm.kernels.batch import Batch
from isotherm.kernels.gated_delta import triton_form as delta_form
from isotherm.kernels.gated_delta.reference import gated_delta as recurrence
from isotherm.kernels.linear import triton_form as linear_form
from isotherm.kernels.linear import triton_fp8_form as fp8_form
from isotherm.kernels.linear.tiles import ProductTile, TileTable
from isotherm.kernels.state import DeltaShape, DeltaState, KVShape
from isotherm.kernels.weight import FP8, Fp8Weight

CPU = torch.device("cpu")


def close(a: Tensor, b: Tensor, bound: float = 2e-6) -> None:
    error = float((a.double() - b.double()).norm() / b.double().norm())
    assert error < bound, error


def linear() -> None:
    x, residual = torch.randn(37, 80), torch.randn(37, 50)
    weight = linear_form.pack(torch.float32, torch.randn(50, 80), CPU)
    sums = x.double() @ weight.data.double().T
    for tile in (ProductTile(16, 16, 32, 4, 2), ProductTile(64, 32, 64, 4, 2, group=2)):
        table = TileTable({(50, 80): ((64, tile),)}, {})
        close(linear_form.linear(table, x, weight), sums)
        close(linear_form.linear(table, x, weight, residual), sums + residual.double())
        close(linear_form.logits(x[:1], weight), sums[:1])
    tokens = torch.tensor([3, 49, 0], dtype=torch.int32)
    assert torch.equal(linear_form.embed(tokens, weight), weight.data[tokens.long()])


def whole_numbers(*shape: int, most: int = 8) -> Tensor:
    """Of which sums are exact in any order."""
    return torch.randint(-most, most + 1, shape).float()


def fp8() -> None:
    """A weight in FP8 is the weight that it stands for. Scales are powers of two, since the interpreter rounds downwards."""
    x, q = whole_numbers(70, 160), whole_numbers(150, 160).to(FP8)
    scales = 2.0 ** torch.randint(-9, -3, (2, 2))
    blocks = Fp8Weight.of_blocks(q, scales)
    wide = scales.double()[torch.arange(150)[:, None] // 128, torch.arange(160) // 128]
    assert torch.equal(blocks.dequantized().double(), q.double() * wide)
    for weight in (blocks, blocks.rows(torch.arange(150).flip(0))):
        ours, stands_for = linear_form.pack(torch.float32, weight, CPU), weight.dequantized().double()
        assert torch.equal(linear_form.linear(TileTable({}, {}), x, ours).double(), x.double() @ stands_for.T)
        for rows, tile in (
            (1, ProductTile(16, 64, 128, 4, 3)),
            (70, ProductTile(64, 64, 64, 4, 3)),
            (70, fp8_form.NARROW),
        ):
            out, residual = torch.full((rows, 150), torch.nan), whole_numbers(rows, 150)
            fp8_form.product(x[:rows], ours, residual, out, tile)
            assert torch.equal(out.double(), residual + x[:rows].double() @ stands_for.T)


def gated_delta() -> None:
    shape, lengths = DeltaShape(1, 2, 16, 16), (130, 64, 70)
    width = 4 * 16
    inputs = [torch.randn(n, width + 4) for n in lengths]
    decay, dt_bias = -0.5 * (0.5 + torch.rand(2)), torch.randn(2)

    def split(x: Tensor) -> list[Tensor]:
        return list(x.split([width, 2, 2], dim=1))

    def layer(state: DeltaState, batch: Batch, x: Tensor) -> Tensor:
        return delta_form.gated_delta(batch, *split(x), decay, dt_bias, state)

    for passes in (
        seg.whole(lengths),
        [[(0, 10), (2, 3)], [(2, 67), (0, 120), (1, 60)], [(1, 4)]],
        seg.batched(lengths, 1),
    ):
        ledger = seg.Ledger(lengths, 3)
        state = delta_form.delta_state(torch.float32, shape, ledger.slots, ledger.lane_count, CPU)
        seg.poison(*state.rows.values())
        seg.poison(state.state, keep_first=True)
        call = partial(layer, state)
        outputs = seg.play(inputs, passes, ledger, call)
        for x, y in zip(inputs, outputs, strict=True):
            close(y, recurrence(*split(x.double()), decay.double(), dt_bias.double(), shape)[0])
        for (sequence, boundary), slot in ledger.kept.items():
            x = inputs[sequence][:boundary].double()
            close(state.state[slot], recurrence(*split(x), decay.double(), dt_bias.double(), shape)[1])
        assert not state.state[0].any()


def delta_rows_alone() -> None:
    """Prepared by a launch of their own, or where they are used: the same to every bit."""
    shape, lengths, width = DeltaShape(2, 4, 16, 16), (9, 5), 8 * 16
    inputs = [torch.randn(n, width + 8) for n in lengths]
    decay, dt_bias = -0.5 * (0.5 + torch.rand(4)), torch.randn(4)

    def kept(most: int) -> list[Tensor]:
        delta_form.PACKED_ALONE = most
        ledger = seg.Ledger(lengths, 3)
        state = delta_form.delta_state(torch.float32, shape, ledger.slots, ledger.lane_count, CPU)
        for tensor in (*state.rows.values(), state.state):
            tensor.zero_()

        def layer(batch: Batch, x: Tensor) -> Tensor:
            return delta_form.gated_delta(batch, *x.split([width, 4, 4], dim=1), decay, dt_bias, state)

        outputs = seg.play(inputs, [[(0, 4), (1, 5)], [(0, 5)]], ledger, layer)
        return [*outputs, *state.rows.values()]

    assert all(torch.equal(a, b) for a, b in zip(kept(0), kept(2), strict=True))


def attention() -> None:
    heads, group, dim, lengths = 2, 3, 16, (150, 64, 1)
    widths = [heads * group * dim, heads * dim, heads * dim]
    inputs = [torch.randn(n, sum(widths)) for n in lengths]
    expected = [attention_definition(*x.double().split(widths, dim=1), heads, dim**-0.5) for x in inputs]
    skipping = [
        torch.cat([y[:1], attention_definition(*x[1:].double().split(widths, dim=1), heads, dim**-0.5)])
        if len(x) > 1
        else y
        for x, y in zip(inputs, expected, strict=True)
    ]

    def run(passes: list[seg.Pass], split: int, skip: int = 0) -> None:
        ledger = seg.Ledger(lengths, 2)
        store = attention_form.kv_store(torch.float32, KVShape(heads, dim), ledger.block_count, CPU)
        seg.poison(store.k, store.v)

        def call(batch: object, x: Tensor) -> Tensor:
            q, k, v = x.split(widths, dim=1)
            attention_form.write_kv(batch, k, v, store)  # type: ignore[arg-type]
            return attention_form.attention(batch, q, store, dim**-0.5, skip, split)  # type: ignore[arg-type]

        for y, z in zip(seg.play(inputs, passes, ledger, call), skipping if skip else expected, strict=True):
            close(y, z)

    run(seg.whole(lengths), 1024)
    run(seg.batched(lengths, 1), 64)
    run(seg.whole(lengths), 1024, skip=1)
    run(seg.batched(lengths, 1), 64, skip=1)
    plan.WAITING_PAIRS = 0  # one program walks all splits of a tile
    run(seg.whole(lengths), 64)
    run(seg.whole(lengths), 64, skip=1)


def run_case(case: Callable[[], None]) -> None:
    """Runs one, where the interpreter runs."""
    try:
        int(numpy.zeros(1))
    except TypeError:
        print("NUMPY_TOO_NEW")
        sys.exit(1)
    torch.manual_seed(0)
    case()


if __name__ == "__main__":
    cases = {
        "linear": linear,
        "fp8": fp8,
        "gated_delta": gated_delta,
        "delta_rows_alone": delta_rows_alone,
        "attention": attention,
    }
    run_case(cases[sys.argv[1]])
