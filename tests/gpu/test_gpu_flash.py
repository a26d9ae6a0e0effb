"""What only Flash-Next has, on the GPU: close to its definition, and equal whichever rows a row is computed with."""

import pytest
import segmented as seg
import torch
from row_checks import ROWS, random_rows, relative, rows_are_their_own
from test_indexed import EPS, Shape, expected, weight_of
from torch import Tensor

pytest.importorskip("triton", reason="Triton is not installed")

from isotherm.kernels.api import RopeTable
from isotherm.kernels.batch import Batch
from isotherm.kernels.gpu.batch import DeviceBatch
from isotherm.kernels.indexed import reference
from isotherm.kernels.indexed import triton_form as form
from isotherm.kernels.indexed.plan import REACH, Reach
from isotherm.kernels.state import IndexShape, KVShape
from isotherm.kernels.streams import reference as definition
from isotherm.kernels.streams import triton_form as streams

S, H = 4, 2048


def test_streams(device: torch.device) -> None:
    x, gate, query = (random_rows(device, S * H) for _ in range(3))
    y, inner, low = random_rows(device, H), torch.randn(ROWS, S, device=device).bfloat16(), random_rows(device, 320)
    weight = 1 + torch.randn(S * H, device=device)
    double = [t.double() for t in (x, gate, y, inner, low)]
    for call, rows, found in (
        (lambda x: streams.stream_norm(x, weight, EPS, S), (x,), definition.stream_norm(double[0], weight, EPS, S)),
        (lambda x, g: streams.stream_mix(x, g, S), (x, gate), definition.stream_mix(double[0], double[1], S)),
        (streams.stream_add, (x, y, inner), definition.stream_add(double[0], double[2], double[3])),
        (lambda x: streams.scaled_silu(x, S), (low,), definition.scaled_silu(double[4], S)),
        (
            lambda k, q, v: streams.stream_gate(k, q, v, S),
            (x, gate, y),
            definition.stream_gate(double[0], double[1], double[2], S),
        ),
        (streams.stream_sum, (x, gate, query), definition.stream_sum(double[0], double[1], query.double())),
    ):
        rows_are_their_own(call, *rows)
        assert relative(call(*rows), found) < 5e-3


SMALL = Shape(2, 64, 4, 4, 32, 8, 4)
SHAPES = [
    SMALL,
    Shape(2, 64, 4, 4, 32, 8, 4, skip=1),
    Shape(2, 256, 8, 4, 128, 16, 8),
    Shape(1, 16, 3, 1, 24, 2, 3, skip=1),
]
SHORT = (300, 1, 64, 65, 130)
REAL, LONG = Shape(2, 256, 8, 4, 128, 16, 128), (4700, 2200, 65, 2049)


def turns(dim: int, device: torch.device) -> RopeTable:
    angle = torch.arange(8192, device=device)[:, None] * torch.logspace(0, -2, dim // 4, device=device)[None]
    return RopeTable(angle.cos().contiguous(), angle.sin().contiguous())


def run(
    shape: Shape, inputs: list[Tensor], passes: list[seg.Pass], seed: int = 0, reach: int = 0
) -> tuple[list[Tensor], list[Tensor]]:
    """Outputs, and choices; then complete blocks with the outputs. reach: of a recorded pass, more blocks than are needed."""
    device = inputs[0].device
    ledger = seg.Ledger([len(x) for x in inputs], seed)
    index = IndexShape(shape.index_dim, shape.ratio, shape.skip)
    store = form.indexed_store(torch.bfloat16, KVShape(shape.heads, shape.dim), index, ledger.block_count, device)
    kept = (store.k, store.v, store.keys, store.pooled)
    seg.poison(*kept)
    weight, turn = weight_of(shape).to(device), turns(shape.index_dim, device)

    def call(host: Batch, x: Tensor) -> Tensor:
        batch = DeviceBatch.of(host, device)
        if reach:
            batch.plans[REACH] = Reach(reach)
        q, k, v, index_q, index_k = x.split(shape.widths, dim=1)
        form.write_indexed(batch, k, v, index_k, weight, EPS, turn, store)
        chosen = form.select(batch, index_q, store, shape.most)
        out = form.indexed_attention(batch, q, store, chosen, shape.dim**-0.5)
        return torch.cat([out.view(torch.int16).int(), chosen.flatten(1)], 1)

    outputs = seg.play(inputs, passes, ledger, call)
    whole = [blocks[: len(x) // 64] for blocks, x in zip(ledger.blocks, inputs, strict=True)]
    return outputs, [tensor[blocks] for blocks in whole for tensor in kept]


def same(a: tuple[list[Tensor], list[Tensor]], b: tuple[list[Tensor], list[Tensor]]) -> bool:
    return all(map(seg.equal, a[0], b[0])) and all(map(seg.equal, a[1], b[1]))


def data(shape: Shape, lengths: tuple[int, ...], device: torch.device) -> list[Tensor]:
    return [torch.randn(n, sum(shape.widths), device=device).bfloat16() for n in lengths]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_indexed_rows_are_equal_however_cut(device: torch.device, shape: Shape) -> None:
    inputs = data(shape, SHORT, device)
    whole = run(shape, inputs, seg.whole(SHORT))
    assert same(run(shape, inputs, seg.one_by_one(SHORT), 1), whole)
    for seed in range(4):
        assert same(run(shape, inputs, seg.batched(SHORT, seed), seed), whole), seed
    assert same(run(shape, inputs, seg.batched(SHORT, 5), 5, reach=4096), whole)


def test_of_the_released_sizes_too(device: torch.device, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = data(REAL, LONG, device)
    whole = run(REAL, inputs, seg.whole(LONG))
    for seed in range(3):
        assert same(run(REAL, inputs, seg.batched(LONG, seed), seed), whole), seed
    for programs in (0, 1 << 30):  # a program for a row's splits, or one for each
        monkeypatch.setattr(form, "_TWO_EACH", programs)
        assert same(run(REAL, inputs, seg.batched(LONG, 4), 4, reach=512), whole), programs


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_indexed_rows_are_close_to_the_definition(device: torch.device, shape: Shape) -> None:
    """Over the keys that they chose; and these are the definition's, but where it hangs on the rounding of a score."""
    inputs = data(shape, SHORT, device)
    outputs, _ = run(shape, inputs, seg.whole(SHORT))
    columns = shape.widths[0]
    for x, y in zip(inputs, outputs, strict=True):
        found = y[:, :columns].short().view(torch.bfloat16).double().cpu()
        mine, (_, mask) = mask_of(shape, y[:, columns:].cpu()), expected(shape, x.cpu())
        q, k, v, *_ = x.double().cpu().split(shape.widths, dim=1)
        rows = reference.indexed_attention(q, k, v, shape.heads, mine, shape.dim**-0.5)
        assert float(((found - rows).norm(dim=1) / rows.norm(dim=1)).max()) < 2e-2
        own = (mine == mask).all(dim=1)
        assert own[: shape.most * shape.ratio].all()
        assert float(own.double().mean()) > 0.75


def mask_of(shape: Shape, lists: Tensor) -> Tensor:
    """Lists of blocks [T, 3 * LENGTH] -> [T, T] bool: the keys that each row sees."""
    count, groups = len(lists), 64 // shape.ratio
    mask = torch.zeros(count, count + 64, dtype=torch.bool)
    for t, entries in enumerate(lists.view(count, -1, 3).tolist()):
        for block, *words in entries:
            for g in range(groups) if block >= 0 else ():
                start = block * 64 + g * shape.ratio
                mask[t, start : start + shape.ratio] |= bool(words[g // 32] >> (g % 32) & 1)
        mask[t, t + 1 :] = False
        mask[t, : min(shape.skip, t)] = False
    return mask[:, :count]


def test_groups_that_score_the_same_are_chosen_from_the_first(device: torch.device) -> None:
    inputs = data(SMALL, (300,), device)
    start = sum(SMALL.widths[:3])
    inputs[0][:, start : start + SMALL.widths[3]] = 0
    (rows,), _ = run(SMALL, inputs, seg.whole((300,)))
    block, low, high = rows[250, SMALL.widths[0] :].view(-1, 3)[0].tolist()
    assert (block, low, high) == (0, 0b1111, 0)
    assert rows[250, SMALL.widths[0] :].view(-1, 3)[1].tolist() == [3, 1 << 7, 0]
