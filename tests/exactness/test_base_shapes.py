"""At the sizes of a real layer (hidden 1024, 8 key and 16 value heads of 128, attention heads of 256): decode equals prefill."""

import random
from pathlib import Path

import pytest
import torch
from harness import ON_GPU, on_test_device

from isotherm.kernels.load import load_kernels
from isotherm.model.load import load_decoder
from isotherm.model.tiny import write_tiny
from isotherm.runner.forward import logits_of

SHAPES = ((1024, 6176), (2048, 1024), (1024, 6144), (3072, 1024), (1024, 5120))
THREADS = (1, 2, 3, 8)
LAYERS = {
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "linear_num_key_heads": 8,
    "linear_num_value_heads": 16,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "initializer_range": 0.02,
}


@pytest.mark.skipif(ON_GPU, reason="tests/gpu has it")
@pytest.mark.parametrize(("k", "n"), SHAPES)
def test_a_linear_row_has_the_same_bits_alone_and_among_many(k: int, n: int) -> None:
    generator = torch.Generator().manual_seed(k + n)
    x = torch.randn(131, k, generator=generator).bfloat16()
    kernels = {threads: load_kernels("c", "bfloat16", threads) for threads in THREADS}
    weight = kernels[1].pack(torch.randn(n, k, generator=generator) * 0.05)
    whole = kernels[1].linear(x, weight)
    for provider in kernels.values():
        assert torch.equal(provider.linear(x, weight), whole)
        for row in (0, 1, 5, 6, 64, 130):
            assert torch.equal(provider.linear(x[row : row + 1].clone(), weight)[0], whole[row])


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("layers")
    write_tiny("qwen3_5", folder, vocab_size=512, eos_token_id=511, **LAYERS)
    return folder


@pytest.mark.parametrize("threads", THREADS)
def test_layers_of_real_size_are_equal_under_random_segmentations(layers: Path, threads: int) -> None:
    rng = random.Random(threads)
    tokens = [rng.randrange(512) for _ in range(200)]
    build = on_test_device("c", "bfloat16")
    one = logits_of(load_decoder(layers, load_kernels(*build, 1), 256), tokens)
    decoder = load_decoder(layers, load_kernels(*build, threads), 256)
    cuts = sorted({*rng.sample(range(1, 200), 12), *range(50, 80)})
    assert torch.equal(logits_of(decoder, tokens, cuts), one)
