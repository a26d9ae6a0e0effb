"""What only Flash-Next has, for test_triton_interpreted.py; not a test by itself. See triton_cases."""

import sys

import segmented as seg
import torch
from test_indexed import EPS, SHAPES, SHORT, Shape, expected, table, weight_of
from torch import Tensor
from triton_cases import CPU, close, run_case
from triton_cases_rows import part

from isotherm.kernels.batch import Batch
from isotherm.kernels.gpu.upload import Upload
from isotherm.kernels.indexed import triton_form as indexed_form
from isotherm.kernels.ngram import device_form as ngram_form
from isotherm.kernels.ngram.reference import ngrams as ngrams_definition
from isotherm.kernels.ngram.torch_form import NgramHash
from isotherm.kernels.state import IndexShape, KVShape
from isotherm.kernels.streams import reference as streams_definition
from isotherm.kernels.streams import triton_form as streams_form


def streams() -> None:
    count, h, rows = 3, 20, 5
    x, weight = part(rows, count * h), 1 + torch.randn(count * h)
    gate, y, more = part(rows, count * h, 1), part(rows, h, 2), part(rows, count, 4)
    double = [t.double().contiguous() for t in (x, gate, y, more)]
    close(
        streams_form.stream_norm(x, weight, EPS, count),
        streams_definition.stream_norm(double[0], weight.double(), EPS, count),
    )
    close(streams_form.stream_mix(x, gate, count), streams_definition.stream_mix(double[0], double[1], count))
    close(streams_form.stream_add(x, y, more), streams_definition.stream_add(double[0], double[2], double[3]))
    close(streams_form.scaled_silu(x, count), streams_definition.scaled_silu(double[0], count))
    close(streams_form.stream_gate(x, gate, y, count), streams_definition.stream_gate(*double[:3], count))
    close(streams_form.stream_sum(x, gate, x), streams_definition.stream_sum(double[0], double[1], double[0]))
    nothing = torch.zeros(2, count * h)
    assert torch.equal(
        streams_form.stream_gate(nothing, nothing, torch.ones(2, h), count), torch.full_like(nothing, 0.5)
    )


class Places:
    """A table whose rows are their places."""

    def rows(self, places: Tensor) -> Tensor:
        return places.float()


def ngrams() -> None:
    hashing, upload = NgramHash((3, 5, 7), (101, 103, 107, 109), (0, 101, 204, 311), 9), Upload(CPU)
    sequences = [torch.randint(0, 12, (n,), dtype=torch.int32) for n in SHORT]
    for passes in (seg.whole(SHORT), seg.one_by_one(SHORT), seg.batched(SHORT, 1)):
        ledger = seg.Ledger(SHORT)
        state = ngram_form.ngram_state(3, ledger.slots, ledger.lane_count)
        seg.poison(state.rows)
        seg.poison(state.history, keep_first=True)

        def call(batch: Batch, x: Tensor, state=state) -> Tensor:  # type: ignore[no-untyped-def]
            return ngram_form.ngram_rows(upload, *upload.batch(batch, x), hashing, Places(), state)

        for tokens, found in zip(sequences, seg.play(sequences, passes, ledger, call), strict=True):
            assert found.tolist() == ngrams_definition(tokens.tolist(), hashing)


def run_indexed(shape: Shape, inputs: list[Tensor], passes: list[seg.Pass]) -> list[Tensor]:
    """Each sequence's outputs, then its complete blocks, on memory that is NaN until written."""
    ledger = seg.Ledger([len(x) for x in inputs])
    index = IndexShape(shape.index_dim, shape.ratio, shape.skip)
    store = indexed_form.indexed_store(torch.float32, KVShape(shape.heads, shape.dim), index, ledger.block_count, CPU)
    kept = (store.k, store.v, store.keys, store.pooled)
    seg.poison(*kept)

    def call(batch: Batch, x: Tensor) -> Tensor:
        q, k, v, index_q, index_k = x.split(shape.widths, dim=1)
        turn = table(shape.index_dim)
        indexed_form.write_indexed(batch, k, v, index_k, weight_of(shape), EPS, turn, store)
        chosen = indexed_form.select(batch, index_q, store, shape.most)
        return indexed_form.indexed_attention(batch, q, store, chosen, shape.dim**-0.5)

    outputs = seg.play(inputs, passes, ledger, call)
    whole = [blocks[: len(x) // 64] for blocks, x in zip(ledger.blocks, inputs, strict=True)]
    return outputs + [tensor[blocks] for blocks in whole for tensor in kept]


def indexed() -> None:
    """As the definition has it, however sequences are cut, with one program for a row's splits or one each."""
    indexed_form.SPLIT = 2
    for shape, lengths in ((SHAPES[0], (50,)), (SHAPES[4], (60, 1))):
        inputs = [torch.randn(n, sum(shape.widths)) for n in lengths]
        indexed_form._TWO_EACH = 0
        whole = run_indexed(shape, inputs, seg.whole(lengths))
        for x, y in zip(inputs, whole, strict=False):
            close(y, expected(shape, x)[0])
    indexed_form._TWO_EACH = 1 << 30
    assert all(map(seg.equal, run_indexed(shape, inputs, seg.batched(lengths, 1)), whole))


if __name__ == "__main__":
    cases = {"streams": streams, "ngrams": ngrams, "indexed": indexed}
    run_case(cases[sys.argv[1]])
