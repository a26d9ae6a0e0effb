"""Self-checks that a user can run on their own machine and weights."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch

from isotherm.core.config import DType, Provider
from isotherm.engine.check import Check
from isotherm.engine.device import check_supported
from isotherm.engine.device_checks import check_device
from isotherm.engine.oracle import transformers_model
from isotherm.kernels.load import load_kernels, with_threads
from isotherm.model.decoder import Decoder
from isotherm.model.hf_config import read_spec
from isotherm.model.load import context_length, load_decoder
from isotherm.runner.forward import logits_of

TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 5e-2}
"""Relative difference of a row of logits from transformers in float32, |ours - theirs| / |theirs|, by our dtype.

In float32 no row may exceed it. In bfloat16 the median of all rows must not: single rows are far off in any bfloat16 code.
"""

LENGTHS = (1, 63, 64, 65, 200)


def check_exactness(decoder: Decoder, length: int = 200, seed: int = 0) -> Iterator[Check]:
    """Equality of bits: one row at a time, and cut at random, against one pass; then the same on other thread counts."""
    rng = random.Random(seed)
    tokens = [rng.randrange(decoder.spec.vocab_size) for _ in range(length)]
    whole = logits_of(decoder, tokens)
    for name, cuts in (
        ("decode = prefill", list(range(1, length))),
        ("cut anywhere = one pass", sorted(rng.sample(range(1, length), 7))),
    ):
        different = int((logits_of(decoder, tokens, cuts) != whole).any(dim=1).sum())
        yield Check(name, different == 0, f"{different} of {length} rows of logits differ")
    yield from check_device(decoder, tokens, whole)
    for threads in (1, 2, 3) if decoder.kernels.device.type == "cpu" else ():
        other = replace(decoder, kernels=with_threads(decoder.kernels, threads))
        different = int((logits_of(other, tokens) != whole).any(dim=1).sum())
        name = f"{threads} threads = {decoder.kernels.threads} threads"
        yield Check(name, different == 0, f"{different} of {length} rows of logits differ")


def compare_with_transformers(decoder: Decoder, folder: Path, seed: int = 0) -> Iterator[Check]:
    """Our logits against transformers' own class in float32 on the same weights, at each of LENGTHS."""
    provider = decoder.kernels
    theirs = transformers_model(folder)
    rng = random.Random(seed)
    dtype_name = str(provider.dtype).removeprefix("torch.")
    rows = []
    for length in LENGTHS:
        tokens = [rng.randrange(decoder.spec.vocab_size) for _ in range(length)]
        with torch.inference_mode():
            expected = theirs(torch.tensor([tokens])).logits[0].float()
        ours = logits_of(decoder, tokens).cpu()
        rows.append((ours - expected).norm(dim=1) / expected.norm(dim=1))
        if provider.dtype == torch.float32:
            worst = float(rows[-1].max())
            yield Check(
                f"transformers, {length} tokens", worst <= TOLERANCE[torch.float32], f"worst row {worst:.1e} off"
            )
    if provider.dtype != torch.float32:
        median, worst = float(torch.cat(rows).median()), float(torch.cat(rows).max())
        detail = f"rows in {dtype_name} are {median:.1e} off its float32 in the median, {worst:.1e} at worst"
        yield Check("transformers", median <= TOLERANCE[provider.dtype], detail)


def open_decoder(folder: Path, dtype: DType, kernels: Provider, threads: int) -> Decoder:
    """A decoder for short checks."""
    spec = read_spec(folder)
    check_supported(kernels, spec)
    return load_decoder(folder, load_kernels(kernels, dtype, threads), min(context_length(spec, 0), 4096))
