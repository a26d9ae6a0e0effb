"""What prefix caching costs when no prompt shares anything: pairs of runs, caching on and off, and a confidence interval.

    python benchmarks/caching_cost.py CHECKPOINT [--device cuda] [--seconds 300] [--out FILE]

Both engines live in this process, with the same settings and a cache that the prompts soon overflow, so that it also evicts.
A pair sends the same fresh prompts of random token ids to one and then to the other, the order changing from pair to pair, and
counts the whole time. Printed: the median of on / off, as a percentage, with its 95 % confidence interval by order statistics,
which single runs that the machine held up do not move; the mean of log(on / off) with Student's interval stands beside it.
"""

import argparse
import json
import math
import platform
import statistics
import time
from pathlib import Path
from typing import Any

from isotherm import LLM, SamplingParams
from isotherm.bench.workload import Prompts

UNTIMED = 16
"""Pairs before the first that counts; by then the cache is full."""


def opened(args: argparse.Namespace, caching: bool) -> LLM:
    """An engine that takes the workload in one go."""
    return LLM(
        str(args.checkpoint),
        threads=args.threads,
        max_model_len=args.prompt + args.new + 64,
        max_num_seqs=args.at_once,
        enable_prefix_caching=caching,
        kv_cache_memory_bytes=args.cache_mib << 20,
        device=args.device,
    )


def seconds_of(llm: LLM, prompts: list[list[int]], new: int) -> float:
    start = time.perf_counter()
    outputs = llm.generate(prompts, SamplingParams(temperature=0.0, max_tokens=new, ignore_eos=True))
    taken = time.perf_counter() - start
    assert not any(output.cached_tokens for output in outputs), "a prompt was shared"
    return taken


def pairs(args: argparse.Namespace, on: LLM, off: LLM, vocabulary: int) -> list[tuple[float, float]]:
    """(seconds with caching, without) of each pair, after some that are not kept."""
    stream, kept, number, end = Prompts(vocabulary, args.seed), [], 0, math.inf
    while time.perf_counter() < end:
        prompts = [stream.next(args.prompt) for _ in range(args.at_once)]
        engines = (on, off) if number % 2 else (off, on)
        taken = {id(llm): seconds_of(llm, prompts, args.new) for llm in engines}
        number += 1
        if number > UNTIMED:
            kept.append((taken[id(on)], taken[id(off)]))
        elif number == UNTIMED:
            end = time.perf_counter() + args.seconds
    return kept


def student(freedom: int) -> float:
    """The 97.5 % point of Student's t: Cornish and Fisher's expansion in 1/freedom (to 0.01 from 6 degrees on)."""
    z = 1.959964
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def outermost(count: int) -> int:
    """The k for which the k-th smallest and k-th largest of `count` values hold their median between them with 95 %."""
    below, k = 0.0, 0
    while (below := below + math.comb(count, k) / 2**count) <= 0.025:
        k += 1
    return max(k, 1)


def interval(measured: list[tuple[float, float]]) -> dict[str, Any]:
    """By how many per cent caching on is slower."""
    logs = sorted(math.log(on / off) for on, off in measured)
    mean, error, k = statistics.mean(logs), statistics.stdev(logs) / math.sqrt(len(logs)), outermost(len(logs))
    ends = [mean + side * student(len(logs) - 1) * error for side in (-1, 1)]
    return {
        "pairs": len(logs),
        "slower_percent": _percent(statistics.median(logs)),
        "confidence_95": [_percent(logs[k - 1]), _percent(logs[-k])],
        "mean_percent": _percent(mean),
        "mean_confidence_95": [_percent(end) for end in ends],
    }


def _percent(log: float) -> float:
    return round(100 * math.expm1(log), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--new", type=int, default=8)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--cache-mib", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="also write the JSON here, with every pair")
    args = parser.parse_args()

    vocabulary = json.loads((args.checkpoint / "config.json").read_text(encoding="utf-8"))["vocab_size"]
    on, off = opened(args, True), opened(args, False)
    measured = pairs(args, on, off, vocabulary)
    settings = {
        name: getattr(args, name) for name in ("device", "threads", "prompt", "new", "at_once", "cache_mib", "seed")
    }
    evicted = on.stats().evicted_blocks
    result = interval(measured) | {"settings": settings, "evicted_blocks": evicted, "python": platform.python_version()}
    print(json.dumps(result))
    if args.out:
        args.out.write_text(json.dumps(result | {"seconds": measured}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
