"""Proof that the equality tests can fail: one rule of one kernel is broken in a copy of its source, and rows change."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import segmented as seg
import test_kernels_attention as attention
import test_kernels_gated_delta as delta
import test_kernels_sampling as sampling
import torch

import isotherm.kernels
from isotherm.kernels.c_provider import CKernels
from isotherm.kernels.native.build import build, find_compiler
from isotherm.kernels.native.isa import Isa, choose_isa, supported
from isotherm.kernels.native.library import Library

VECTORS: Isa = next(isa for isa in supported() if isa != "amx")
"""The best instruction set without matrix registers."""

needs_amx = pytest.mark.skipif("amx" not in supported(), reason="no AMX here")


def broken(
    folder: Path,
    source: str,
    old: str,
    new: str,
    dtype: torch.dtype = torch.bfloat16,
    threads: int = 1,
    operation: str = "",
    isa: Isa | None = None,
) -> CKernels:
    """The C provider with one operation, the one that `source` belongs to if none is named, compiled from a copy in which `old`
    reads `new`."""
    root = Path(isotherm.kernels.__file__).parent
    copy = folder / "kernels"
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    text = (copy / source).read_text()
    assert text.count(old) == 1, f"{source} no longer holds the line that this test breaks"
    (copy / source).write_text(text.replace(old, new))
    made = build(isa or choose_isa(dtype=dtype), dtype)
    library = folder / "broken.so"
    sources = map(str, [*(copy / (operation or source.split("/")[0])).glob("*.c"), *(copy / "native").glob("*.c")])
    flags = [*made.flags.split(), "-w", "-shared", f"-I{copy / 'native'}"]
    subprocess.run([find_compiler(), *flags, *sources, "-o", str(library), "-lm"], check=True)
    return CKernels(Library(replace(made, path=library), threads))


def test_a_sum_whose_order_follows_the_tile_is_noticed(tmp_path: Path) -> None:
    kernels = broken(
        tmp_path,
        "gated_delta/tile.h",
        "for (long k = 0; k < depth; k++) {",
        "for (long i = 0; i < depth; i++) { long k = R == 1 ? depth - 1 - i : i;",
    )
    inputs = delta.data(kernels, delta.SMALL, "plain", (300,))
    expected = delta.run(kernels, delta.SMALL, inputs, seg.whole((300,)))
    assert not delta.run(kernels, delta.SMALL, inputs, seg.one_by_one((300,))).equals(expected)


def test_a_decay_summed_from_the_segment_is_noticed(tmp_path: Path) -> None:
    """The same number in exact arithmetic: the total since the boundary, added up from the segment's first row."""
    kernels = broken(
        tmp_path,
        "gated_delta/delta.c",
        "totals[rows.first + r + i] = total = total + a[i];",
        "{ a[i] += i ? a[i - 1] : 0.0f; totals[rows.first + r + i] = total + a[i]; if (i == n - 1) total += a[i]; }",
    )
    inputs = delta.data(kernels, delta.SMALL, "plain", (300,))
    expected = delta.run(kernels, delta.SMALL, inputs, seg.whole((300,)))
    assert not delta.run(kernels, delta.SMALL, inputs, seg.halves((300,), 70)).equals(expected)


def test_splits_merged_in_another_order_by_other_threads_are_noticed(tmp_path: Path) -> None:
    kernels = broken(
        tmp_path,
        "attention/attention.c",
        "for (long next = 1; next < splits_of(&strip); next++) {",
        "for (long next = splits_of(&strip) - 1; next > 0; next--) {",
        torch.float32,
        threads=8,
    )
    lengths = (4200,)
    inputs = attention.data(kernels, attention.TINY, lengths)
    expected = attention.run(kernels, attention.TINY, inputs, seg.whole(lengths))
    assert not attention.equals(attention.run(kernels, attention.TINY, inputs, seg.halves(lengths, 4130)), expected)


def test_a_later_key_that_meets_a_zero_weight_is_noticed(tmp_path: Path) -> None:
    """0 * NaN: the other half of the last pair is not cleared."""
    kernels = broken(tmp_path, "attention/tile_vector.h", "p[i] & 0xffff;", "p[i];", isa=VECTORS)
    _later_keys_are_noticed(kernels)


@needs_amx
def test_a_later_key_in_matrix_registers_is_noticed(tmp_path: Path) -> None:
    kernels = broken(tmp_path, "linear/tile_matrix.h", "&= 0xffff;", "&= 0xffffffff;", operation="attention", isa="amx")
    _later_keys_are_noticed(kernels)


def _later_keys_are_noticed(kernels: CKernels) -> None:
    inputs = attention.data(kernels, attention.SMALL, (65,))
    expected = attention.run(kernels, attention.SMALL, inputs, seg.whole((65,)))
    assert not attention.equals(attention.run(kernels, attention.SMALL, inputs, seg.one_by_one((65,))), expected)


@needs_amx
def test_few_rows_that_sum_in_another_order_are_noticed(tmp_path: Path) -> None:
    """One or two rows are computed in vector registers, more in matrix registers."""
    chains = "v16_add(sums[r][j], v16_add(even[r][j], odd[r][j]))"
    one_by_one = "v16_add(v16_add(sums[r][j], even[r][j]), odd[r][j])"
    kernels = broken(tmp_path, "linear/tile_matrix.h", chains, one_by_one, isa="amx")
    x, weight = torch.randn(3, 256).bfloat16(), kernels.pack(torch.randn(64, 256))
    assert not torch.equal(kernels.logits(x[:1], weight), kernels.logits(x, weight)[:1])


def test_noise_by_rank_is_noticed(tmp_path: Path) -> None:
    kernels = broken(tmp_path, "sampling/sampling.c", "(uint32_t)ids[lane] / 4, four", "(uint32_t)(i + lane) / 4, four")
    x = sampling.logits(1000)
    keys = [(5, 0, position) for position in range(20)]
    whole, ranked = ([kernels.sample(x, 1.0, k, 1.0, 0.0, key) for key in keys] for k in (0, 1000))
    assert whole != ranked
