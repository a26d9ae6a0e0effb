"""What test_triton_engine.py runs in a process with TRITON_INTERPRET=1. Not a test by itself."""

import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy
import torch

from isotherm.core.config import CacheConfig, EngineConfig, ModelConfig, SchedulerConfig
from isotherm.core.request import Request
from isotherm.core.sampling import SamplingParams
from isotherm.core.vocabulary import Vocabulary
from isotherm.engine.engine import Engine
from isotherm.fuzz.states import poison
from isotherm.model.tiny import write_tiny

SHAPE = {
    "vocab_size": 128,
    "eos_token_id": 127,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "layer_types": ["linear_attention", "full_attention"],
    "head_dim": 16,
    "linear_num_key_heads": 1,
    "linear_num_value_heads": 2,
    "linear_value_head_dim": 16,
}
FLASH = {
    "layer_types": ["linear_attention", "indexed_attention"],
    "hc_count": 2,
    "hc_lowrank": 8,
    "ple_layer_ids": [1],
    "ple_embed_dim": 16,
    "heads_per_ngram": 2,
    "num_experts": 4,
    "num_experts_per_tok": 2,
}


def shape_of(kind: str) -> dict[str, Any]:
    """Of a tiny checkpoint."""
    return SHAPE | (FLASH if kind == "qwen4_exp" else {})


def answers(folder: Path, kernels: str, requests: list[Request]) -> tuple[dict[str, list[int]], Engine]:
    """Tokens of each request; the last is sent when the others have ended, and goes on where the first one did."""
    model = ModelConfig(str(folder), None, "float32" if kernels == "c" else "auto", 256, kernels, 1)  # type: ignore[arg-type]
    vocabulary = Vocabulary(tuple(b"x" for _ in range(128)), frozenset(), (127,))
    engine = Engine(EngineConfig(model, CacheConfig(True, 8 << 20), SchedulerConfig(4, 256)), folder, vocabulary)
    poison(engine.runner.state)
    found: dict[str, list[int]] = {}
    for item in requests[:-1]:
        engine.add(item)
    while engine.has_work:
        for output in engine.step():
            found.setdefault(output.request_id, []).extend(output.tokens)
    last = requests[-1]
    engine.add(Request(last.id, (*requests[0].prompt, *found[requests[0].id]), last.sampling))
    while engine.has_work:
        for output in engine.step():
            if output.cached_tokens is not None:
                assert output.cached_tokens == 64
            found.setdefault(output.request_id, []).extend(output.tokens)
    return found, engine


def main(kind: str) -> None:
    rng = random.Random(3)
    greedy = SamplingParams(temperature=0.0, max_tokens=4, logprobs=2, ignore_eos=True)
    sampled = SamplingParams(temperature=0.8, top_p=0.9, max_tokens=3, ignore_eos=True)
    pushed = SamplingParams(
        temperature=0.0, max_tokens=2, ignore_eos=True, repetition_penalty=1.3, logit_bias=((3, 1.0),)
    )
    prompts = [tuple(rng.randrange(126) for _ in range(count)) for count in (62, 3, 5)]
    requests = [Request(name, *rest) for name, *rest in zip("abc", prompts, (greedy, sampled, pushed), strict=True)]
    requests.append(Request("d", (), SamplingParams(temperature=0.0, max_tokens=2, ignore_eos=True)))
    with tempfile.TemporaryDirectory() as folder:
        write_tiny(kind, Path(folder), seed=1, **shape_of(kind))
        mine, engine = answers(Path(folder), "triton", requests)
        expected, _ = answers(Path(folder), "c", requests)
    assert mine == expected, (mine, expected)
    sizes = list(engine.runner.graphs._records)  # type: ignore[union-attr]
    assert {size.rows for size in sizes} >= {1, 2, 4} and any(size.folds for size in sizes), sizes


if __name__ == "__main__":
    try:
        int(numpy.zeros(1))
    except TypeError:
        print("NUMPY_TOO_NEW")
        sys.exit(1)
    torch.set_num_threads(1)
    main(sys.argv[1])
