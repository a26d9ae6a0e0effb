"""What HTTP costs: many streams of `isotherm serve` against the same requests in one process; prints JSON.

    PYTHONPATH=src python benchmarks/gpu/http_streams.py [CHECKPOINT] [--device cuda] [--at-once 64] [--out FILE]

Both take prompts that nothing shares, greedy, to their last token, and count new tokens a second from the first request to the
last answer. Rounds alternate: one of each, the engine in this process and the server both loaded all the while, the one that
is not measured idle. Printed: each round, and the median of HTTP's share. Without CHECKPOINT, the embedded model.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from isotherm import LLM, SamplingParams
from isotherm.bench.client import BenchClient
from isotherm.bench.workload import Prompts
from isotherm.gate.process import free_port, running_server


def in_process(llm: LLM, prompts: list[list[int]], new: int) -> float:
    """New tokens a second."""
    start = time.perf_counter()
    llm.generate(prompts, SamplingParams(temperature=0.0, max_tokens=new, ignore_eos=True))
    return len(prompts) * new / (time.perf_counter() - start)


async def over_http(url: str, prompts: list[list[int]], new: int) -> float:
    """New tokens a second."""
    async with BenchClient(url, 600.0) as client:
        seconds, timings = await client.together(prompts, new)
    return sum(timing.new for timing in timings) / seconds


def rounds(args: argparse.Namespace, llm: LLM, url: str) -> list[dict[str, float]]:
    """Of each round both rates; the first, which compiles and records, is not kept."""
    stream, kept = Prompts(llm.info.vocab_size, args.seed), []
    for number in range(args.rounds + 1):
        first, second = ([stream.next(args.prompt) for _ in range(args.at_once)] for _ in range(2))
        http = asyncio.run(over_http(url, first, args.new))
        kept.append({"http": http, "in_process": in_process(llm, second, args.new)})
        print(number, kept[-1], file=sys.stderr, flush=True)
    return kept[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkpoint", nargs="?", default="")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="cuda")
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--prompt", type=int, default=256)
    parser.add_argument("--new", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cache-mib", type=int, default=2048)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()

    length, cache = args.prompt + args.new + 64, args.cache_mib << 20
    llm = LLM(
        args.checkpoint,
        device=args.device,
        max_model_len=length,
        max_num_seqs=args.at_once,
        kv_cache_memory_bytes=cache,
    )
    flags: dict[str, Any] = {
        "port": free_port(),
        "device": args.device,
        "max-model-len": length,
        "max-num-seqs": args.at_once,
        "kv-cache-memory-bytes": cache,
    }
    model = [args.checkpoint] if args.checkpoint else []
    command = [sys.executable, "-m", "isotherm", "serve", *model]
    command += [text for name, value in flags.items() for text in (f"--{name}", str(value))]
    log = Path(tempfile.mkdtemp()) / "serve.log"
    with running_server(command, flags["port"], log, 300.0) as url:
        kept = rounds(args, llm, url)
    share = statistics.median(each["http"] / each["in_process"] for each in kept)
    text = json.dumps({"http_share": share, "settings": flags, "rounds": kept}, indent=1)
    print(text)
    if args.out:
        args.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
