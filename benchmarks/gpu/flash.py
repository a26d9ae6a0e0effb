"""Flash-Next's layers with random weights on one GPU, built there without a checkpoint; prints JSON.

    PYTHONPATH=src python benchmarks/gpu/flash.py [--layers 8] [--longest 100000] [--out FILE]

Shapes are transformers' defaults for qwen4_exp; the indexer's, which have none, are 4 heads of 128, groups of 16 tokens and a
budget of 2,048. The n-gram table is cut down to 16 x 200,003 rows in ordinary memory, of the first layer. For each:

- decode: one sequence after so many tokens: ms a step in the engine, and of the recorded pass alone;
- prefill: tokens / s of one prompt that nothing shares, from its arrival to its first token;
- snapshot: bytes of a slot, of a block and of a lane, and the time of a prompt of 64 rows, which keeps a boundary, and of 63;
- warm: time to first token of 64 new tokens after so many that the cache holds, of the whole prompt, and of 64 tokens alone;
- exact: whether the warm answer's tokens and log-probabilities are those of the same prompt computed anew.

Prompts are random, so are the weights: experts are spread evenly, and chosen groups too. Medians.
"""

import argparse
import json
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import whole_model
from whole_model import GREEDY, RandomWeights, replay_ms, warm

from isotherm.cache import PrefixCache
from isotherm.core.config import SchedulerConfig
from isotherm.core.layout import Layout
from isotherm.core.vocabulary import Vocabulary
from isotherm.kernels.api import Kernels
from isotherm.kernels.load import load_kernels
from isotherm.kernels.state import DeltaShape, IndexShape, KVShape
from isotherm.model.decoder import Decoder
from isotherm.model.ngram import multipliers, primes_from
from isotherm.model.rope import rope_table
from isotherm.model.spec import IndexSpec, LayerSpec, ModelSpec, MoeSpec, NgramSpec, RopeSpec, StreamSpec
from isotherm.model.stream_layer import load_stream_layer
from isotherm.model.streams import load_stream_mixer
from isotherm.runner.capacity import Capacity
from isotherm.runner.runner import Runner
from isotherm.scheduler.scheduler import Scheduler

VOCABULARY, BUDGET = 248_320, 8192


class FlashWeights(RandomWeights):
    """As RandomWeights, with an n-gram table on the CPU and the hash's numbers from the specification."""

    def __contains__(self, name: str) -> bool:
        return name.endswith(("experts.gate_up_proj", "ngram_embedding.weight"))

    def is_fp8(self, name: str) -> bool:
        return False

    def take_mapped(self, name: str, *shape: int) -> torch.Tensor:
        return (torch.randn(shape) * 0.02).bfloat16()


def spec_of(layers: int) -> ModelSpec:
    """The mixer of every fourth layer is attention; n-grams in the first."""
    sizes = primes_from(200_000, 0, 16)
    ngram = NgramSpec(3, 8, 2048, multipliers(VOCABULARY, 3, 0, 1234), sizes, sum(sizes), 1, VOCABULARY - 1, 4)
    moe = MoeSpec(512, 10, 512, 512, True)
    mixers = ["indexed_attention" if i % 4 == 3 else "linear_attention" for i in range(layers)]
    return ModelSpec(
        kind="qwen4_exp",
        vocab_size=VOCABULARY,
        hidden_size=2048,
        intermediate_size=5120,
        layers=tuple(LayerSpec(mixer, moe, None if i else ngram) for i, mixer in enumerate(mixers)),  # type: ignore[arg-type]
        query_heads=16,
        kv=KVShape(2, 256),
        delta=DeltaShape(16, 32, 128, 128),
        conv_width=4,
        norm_eps=1e-6,
        rope=RopeSpec(1e7, 64),
        max_positions=262_144,
        tied_embeddings=False,
        interleaved_projections=False,
        streams=StreamSpec(4, 320),
        index=IndexSpec(4, IndexShape(128, 16), 128),
    )


def random_decoder(spec: ModelSpec, kernels: Kernels, longest: int) -> tuple[Decoder, int]:
    """A decoder, and the bytes of its weights but the n-gram table."""
    weights: Any = FlashWeights(kernels.device)
    table = kernels.pack(weights.take("embed", spec.vocab_size, spec.hidden_size))
    layers = tuple(load_stream_layer(weights, index, spec, kernels) for index in range(len(spec.layers)))
    norm = load_stream_mixer(weights, "hyper_connection_mixer.", spec, kernels, gated=False)
    head = kernels.pack(weights.take("head", spec.vocab_size, spec.hidden_size))
    rope = rope_table(spec.rope, longest + 1024, kernels.device)
    return Decoder(spec, kernels, table, layers, norm, head, rope), weights.bytes


class Bench(whole_model.Bench):
    """With room for a few prompts of `longest` tokens."""

    def __init__(self, decoder: Decoder, longest: int):
        blocks, slots, lanes = 5 * longest // 64 + 64, 300, 8
        super().__init__(decoder, BUDGET)
        self.runner = Runner(decoder, Capacity(blocks, slots, lanes, 0, 0))
        self.cache = PrefixCache(blocks - 1, slots - 1, enabled=True)
        vocabulary = Vocabulary(tuple(b"x" for _ in range(self.vocab)), frozenset(), (0,))
        self.scheduler = Scheduler(SchedulerConfig(lanes, BUDGET), self.cache, Layout(2048), vocabulary, longest + 1024)


def decode(bench: Bench, context: int) -> dict[str, float]:
    """Of one sequence, after so many tokens: milliseconds."""
    bench.add(bench.tokens(context), replace(GREEDY, max_tokens=100))
    times = []
    while bench.scheduler.has_work:
        start = time.perf_counter()
        outputs = bench.step()
        if outputs:
            times.append(time.perf_counter() - start)
    graphs = bench.runner.graphs
    assert graphs is not None
    sizes = next(sizes for sizes in reversed(graphs._records) if not getattr(sizes, "folds", 1))
    record = graphs._records[sizes]
    assert record.graph is not None
    return {"step_ms": 1e3 * statistics.median(times[20:]), "graph_ms": replay_ms(record.graph)}


def prefill(bench: Bench, length: int) -> float:
    """Tokens a second."""
    bench.answer(bench.tokens(length))
    return length / statistics.median(bench.answer(bench.tokens(length))[0] for _ in range(2))


def snapshot(bench: Bench) -> dict[str, Any]:
    """Bytes of what is kept, and milliseconds to the first token of 64 rows, which end at a boundary, and of 63."""
    state = bench.runner.state
    parts = {"slot": state.by_slot(), "block": state.by_block(), "lane": state.by_lane()}
    found: dict[str, Any] = {
        f"{name}_bytes": sum(tensor[0].nbytes for tensor in tensors.values()) for name, tensors in parts.items()
    }
    for rows in (63, 64):
        found[f"{rows}_rows_ms"] = 1e3 * statistics.median(bench.answer(bench.tokens(rows))[0] for _ in range(9))
    return found


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--longest", type=int, default=100_000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    decoder, total = random_decoder(spec_of(options.layers), load_kernels("triton"), options.longest)
    bench = Bench(decoder, options.longest)
    lengths = [length for length in (4096, 16_384, 30_000, 100_000) if length <= options.longest]
    found: dict[str, Any] = {
        "card": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "date": time.strftime("%Y-%m-%d"),
        "layers": options.layers,
        "weights_gb": total / 1e9,
    }

    def tell(name: str, value: Any) -> None:
        found[name] = value
        print(json.dumps({name: value}), flush=True)

    decode(bench, 1000)
    for length in lengths:
        tell(f"decode_{length}", decode(bench, length))
    for length in lengths:
        tell(f"prefill_{length}_tok_s", prefill(bench, length))
    tell("snapshot", snapshot(bench))
    for length in lengths[2:]:
        tell(f"warm_{length}", warm(bench, length))
    print(json.dumps(found, indent=1))
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
