"""Whole models with random weights on one GPU, built there without a checkpoint; prints a table and JSON.

    PYTHONPATH=src python benchmarks/gpu/whole_model.py [dense moe dense-fp8 moe-fp8] [--out FILE]

dense: Qwen3.5's shapes at 4 B parameters. moe: Qwen3-Next-80B-A3B's layers, as many as --layers says. -fp8: projections and
experts in block FP8, as released checkpoints have them. For each:

- prefill: tokens / s of one prompt that nothing shares, from its arrival to its first token;
- decode: tokens / s of 1, 8 and 32 sequences after 1,024 tokens each, median over steps; graph: the recorded pass alone,
  replayed, in ms; bound: the time to read the weights that a step needs once at 4.3 TB/s;
- warm: time to first token of 64 new tokens after 30,000 that the cache holds, and of 64 tokens alone;
- exact: whether the warm answer's tokens and log-probabilities are those of the same prompt computed anew.

Prompts are random, so are the weights, and a router's choice with them: experts are spread evenly. Medians.
"""

import argparse
import json
import random
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from isotherm.cache import PrefixCache
from isotherm.core.config import SchedulerConfig
from isotherm.core.layout import Layout
from isotherm.core.request import Request
from isotherm.core.sampling import SamplingParams
from isotherm.core.vocabulary import Vocabulary
from isotherm.kernels.api import Kernels
from isotherm.kernels.load import load_kernels
from isotherm.kernels.state import DeltaShape, KVShape
from isotherm.kernels.weight import FP8, Fp8Weight, Weight
from isotherm.model.decoder import Decoder
from isotherm.model.load import _layer
from isotherm.model.rope import rope_table
from isotherm.model.spec import LayerSpec, ModelSpec, MoeSpec, RopeSpec
from isotherm.model.tiny_fp8 import QUANTIZED
from isotherm.runner.capacity import Capacity
from isotherm.runner.runner import Runner
from isotherm.scheduler.scheduler import Scheduler

LONGEST, LANES, BANDWIDTH = 34_000, 32, 4.3e12
GREEDY = SamplingParams(temperature=0.0, max_tokens=1, ignore_eos=True)


class RandomWeights:
    """Stands in for a checkpoint: every tensor it is asked for, drawn on the device."""

    def __init__(self, device: torch.device, fp8: bool = False):
        self._device = device
        self._fp8 = fp8
        self.bytes = 0

    def __contains__(self, name: str) -> bool:
        return True

    def take(self, name: str, *shape: int) -> torch.Tensor:
        self.bytes += 2 * torch.Size(shape).numel()
        if name.endswith("A_log"):
            return torch.empty(shape, device=self._device).uniform_(1, 16).log()
        scale = 0.02 if len(shape) > 1 else 0.1
        if "conv1d" in name:
            scale = 0.3
        return torch.randn(shape, device=self._device, dtype=torch.bfloat16) * scale

    def take_weight(self, name: str, *shape: int) -> Weight:
        if not self._fp8 or name.removesuffix(".weight").rsplit(".", 1)[-1] not in QUANTIZED:
            return self.take(name, *shape)
        *outer, n, k = shape
        scales = torch.full((*outer, -(-n // 128), -(-k // 128)), 2e-4, device=self._device)
        self.bytes += torch.Size(shape).numel() + scales.nbytes
        values = torch.randn(shape, device=self._device, dtype=torch.bfloat16) * 100
        return Fp8Weight.of_blocks(values.clamp(-448, 448).to(FP8), scales)  # beyond its largest value FP8 has NaN


def spec_of(kind: str, layers: int) -> ModelSpec:
    """Sizes of the released models' configurations."""
    moe = MoeSpec(512, 10, 512, 512, True) if kind == "moe" else None
    mixers = ["full_attention" if i % 4 == 3 else "linear_attention" for i in range(layers)]
    return ModelSpec(
        kind="qwen3_next" if moe else "qwen3_5",
        vocab_size=151_936 if moe else 248_320,
        hidden_size=2048 if moe else 2560,
        intermediate_size=5120 if moe else 9216,
        layers=tuple(LayerSpec(mixer, moe) for mixer in mixers),  # type: ignore[arg-type]
        query_heads=16,
        kv=KVShape(2 if moe else 4, 256),
        delta=DeltaShape(16, 32, 128, 128),
        conv_width=4,
        norm_eps=1e-6,
        rope=RopeSpec(1e7, 64),
        max_positions=262_144,
        tied_embeddings=moe is None,
        interleaved_projections=moe is not None,
    )


def random_decoder(spec: ModelSpec, kernels: Kernels, fp8: bool = False) -> tuple[Decoder, int]:
    """A decoder, and the bytes of its weights."""
    weights: Any = RandomWeights(kernels.device, fp8)
    table = kernels.pack(weights.take("embed", spec.vocab_size, spec.hidden_size))
    layers = tuple(_layer(weights, index, spec, kernels) for index in range(len(spec.layers)))
    norm = weights.take("norm", spec.hidden_size).float() + 1.0
    head = table if spec.tied_embeddings else kernels.pack(weights.take("head", spec.vocab_size, spec.hidden_size))
    return Decoder(
        spec, kernels, table, layers, norm, head, rope_table(spec.rope, LONGEST, kernels.device)
    ), weights.bytes


class Bench:
    """An engine around a decoder, as the fuzzer puts one together."""

    def __init__(self, decoder: Decoder, budget: int):
        self.vocab = decoder.spec.vocab_size
        self.runner = Runner(decoder, Capacity(2600, 100, LANES, 0, 0))
        self.cache = PrefixCache(2599, 99, enabled=True)
        vocabulary = Vocabulary(tuple(b"x" for _ in range(self.vocab)), frozenset(), (0,))
        self.scheduler = Scheduler(SchedulerConfig(LANES, budget), self.cache, Layout(2048), vocabulary, LONGEST)
        self._random, self._count = random.Random(0), 0

    def tokens(self, count: int) -> tuple[int, ...]:
        return tuple(self._random.choices(range(self.vocab), k=count))

    def add(self, prompt: tuple[int, ...], params: SamplingParams = GREEDY, fresh: bool = False) -> None:
        self._count += 1
        self.scheduler.add(Request(f"r{self._count}", prompt, params, skip_reading_prefix_cache=fresh))

    def step(self) -> list[Any]:
        plan = self.scheduler.schedule()
        return self.scheduler.idle() if plan is None else self.scheduler.complete(plan, self.runner.run(plan))

    def answer(
        self, prompt: tuple[int, ...], params: SamplingParams = GREEDY, fresh: bool = False
    ) -> tuple[float, Any]:
        """Seconds to the first token, and what was put out, token by token."""
        torch.cuda.synchronize()
        start, first, outputs = time.perf_counter(), 0.0, []
        self.add(prompt, params, fresh)
        while self.scheduler.has_work:
            for output in self.step():
                first = first or time.perf_counter() - start
                outputs.append((output.tokens, output.logprobs))
        return first, outputs


def prefill(bench: Bench, length: int) -> float:
    """Tokens a second."""
    bench.answer(bench.tokens(length))
    return length / statistics.median(bench.answer(bench.tokens(length))[0] for _ in range(3))


def decode(bench: Bench, count: int) -> tuple[float, float]:
    """Tokens a second in the engine, and milliseconds of the recorded pass alone."""
    for _ in range(count):
        bench.add(bench.tokens(1024), replace(GREEDY, max_tokens=400))
    while (
        bench.scheduler.stats().generation_tokens < 1
        or len(bench.scheduler._roster.running) < count
        or any(sequence.remaining > 1 for sequence in bench.scheduler._roster.running)
    ):
        if not bench.scheduler.has_work:
            raise RuntimeError("the sequences ended before they were all decoded: logits that are not finite end one")
        bench.step()
    times = []
    for _ in range(150):
        start = time.perf_counter()
        bench.step()
        times.append(time.perf_counter() - start)
    graphs = bench.runner.graphs
    assert graphs is not None
    record = next(
        r
        for sizes, r in graphs._records.items()
        if sizes.rows == count and not sizes.folds and r.graph and not any(sizes.tiles)
    )
    alone = replay_ms(record.graph)
    for sequence in list(bench.scheduler._roster.running):
        bench.scheduler.cancel(sequence.request.id)
    while bench.scheduler.has_work:
        bench.step()
    return count / statistics.median(times[20:]), alone


def replay_ms(graph: torch.cuda.CUDAGraph) -> float:
    """Of a recorded pass alone."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(20):
        graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 20


def warm(bench: Bench, length: int = 30_000) -> dict[str, Any]:
    """A prompt of `length` tokens cold, then 64 others after it."""
    stem = bench.tokens(length)
    cold, _ = bench.answer(stem)
    params = SamplingParams(temperature=0.0, max_tokens=8, logprobs=5, ignore_eos=True)
    prompts = [(*stem, *bench.tokens(64)) for _ in range(4)]
    runs = [bench.answer(prompt, params) for prompt in prompts]
    anew = bench.answer(prompts[-1], params, fresh=True)
    alone = [bench.answer(bench.tokens(64))[0] for _ in range(4)]
    return {
        "cold_ms": cold * 1e3,
        "warm_ms": statistics.median(first for first, _ in runs[1:]) * 1e3,
        "64_alone_ms": statistics.median(alone[1:]) * 1e3,
        "exact": runs[-1][1] == anew[1],
    }


def read_bytes(decoder: Decoder, total: int, rows: int) -> float:
    """Bytes of the weights that a step of `rows` rows reads, for experts chosen evenly; the embedding table is not read."""
    spec = decoder.spec
    moe = spec.layers[0].moe
    table = 2 * spec.vocab_size * spec.hidden_size
    total -= 0 if spec.tied_embeddings else table
    if moe is None:
        return total
    feeds: Any = [layer.feed for layer in decoder.layers]
    experts = sum(each.data.nbytes for feed in feeds for each in (feed.gate_up, feed.down))
    return total - experts + experts * (1 - (1 - moe.active / moe.experts) ** rows)


@torch.inference_mode()
def figures(bench: Bench, total: int) -> dict[str, Any]:
    """What the module's docstring lists."""
    found: dict[str, Any] = {"weights_gb": total / 1e9}
    for length in (2048, 8192, 32_768):
        found[f"prefill_{length}_tok_s"] = prefill(bench, length)
    for count in (1, 8, 32):
        rate, alone = decode(bench, count)
        bound = read_bytes(bench.runner.decoder, total, count) / BANDWIDTH * 1e3
        found[f"decode_{count}"] = {"tok_s": rate, "step_ms": 1e3 * count / rate, "graph_ms": alone, "bound_ms": bound}
    found["warm"] = warm(bench)
    return found


def measure(kind: str, layers: int, budget: int) -> dict[str, Any]:
    """A model built and measured; kernels are compiled before."""
    shape, _, stored = kind.partition("-")
    decoder, total = random_decoder(spec_of(shape, layers), load_kernels("triton"), stored == "fp8")
    bench = Bench(decoder, budget)
    figures(bench, total)
    return figures(bench, total)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("kinds", nargs="*", default=["dense", "moe"])
    parser.add_argument("--layers", type=int, default=24, help="of the mixture")
    parser.add_argument("--budget", type=int, default=8192, help="tokens a pass")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    named = {"card": torch.cuda.get_device_name(), "torch": torch.__version__, "date": time.strftime("%Y-%m-%d")}
    found = {
        kind: measure(kind, options.layers if kind.startswith("moe") else 32, options.budget) for kind in options.kinds
    }
    text = json.dumps(named | found, indent=1)
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
