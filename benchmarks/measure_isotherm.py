"""Measure Isotherm in process on one checkpoint, and print JSON.

    python benchmarks/measure_isotherm.py CHECKPOINT [--threads 2] [--repeats 3] [--out FILE]

The workload and the JSON's "figures" are those with which other engines were measured on the same checkpoint: prompts of
random token ids from one seeded stream, greedy, end-of-sequence ignored, prefix caching on.

- prefill: prompt tokens / time to first token, at each of `--lengths`, nothing cached;
- decode: tokens / s from the first new token to the last, `--new` tokens after a 512-token prompt, one request at a time;
- warm: time to first token of the longest prompt, cold, then twice more with other tokens in its last 64 places;
- warm_short: the same at the shortest length;
- batch: new tokens / s over the whole time of 8 requests of 512 tokens and 64 new tokens, sent at once;
- peak_rss_mib: the process's peak resident memory.

Beside them stand their bounds. Decode's is the rate at which the weights are read when nothing is done with them: `read` holds it
between runs, and `of_read` the share that a decode reaches when such a sweep follows every eight tokens, for the machine's
memory may change its speed within a second. A warm turn's is a prefix-free prompt of its last 64 tokens, and the reading of the
keys and values of all others.

Only ratios between figures taken in one sitting on one machine mean anything.
"""

import argparse
import json
import platform
import resource
import statistics
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bounds import BesideReading, Reading, kv_bytes, weight_bytes

from isotherm import LLM, SamplingParams, __version__
from isotherm.bench.workload import TAIL, Prompts, Workload


class Bench:
    """One loaded model and the stream of prompts; `figures` in the order in which the prompts are drawn."""

    def __init__(self, llm: LLM, workload: Workload, vocabulary: int):
        self.llm, self.workload = llm, workload
        self.prompts = Prompts(vocabulary, workload.seed)
        self.others = Prompts(vocabulary, workload.seed + 1)  # what the other engines are not asked
        self.read: list[float] = []
        self.reading = Reading(llm)
        self.began = time.perf_counter()

    def figures(self) -> dict[str, Any]:
        """Long prompts last, as with the other engines."""
        self.ask(self.prompts.next(600), 4)  # untimed
        figures: dict[str, Any] = {"decode": self.decode(), "batch": self.batch(), "prefill": {}}
        for length in sorted(self.workload.lengths):
            figures["prefill"][length], figures["warm"] = self.first_tokens(length)
        figures["warm_short"] = self.warm_short(min(self.workload.lengths))
        return figures

    def decode(self) -> dict[str, Any]:
        new, rates = self.workload.decode_new, []
        for _ in range(self.workload.repeats):
            self.read.append(self.reading.rate())
            output = self.ask(self.prompts.next(self.workload.decode_prompt), new)
            rates.append((new - 1) / (output.total_s - output.first_token_s))
        self.read.append(self.reading.rate())
        read = summary(self.read, "bytes_per_s")
        bound = {"weight_bytes": weight_bytes(self.llm), "read": read, "of_read": self.beside_reading()}
        return self.told("decode", summary(rates, "tokens_per_s") | bound)

    def beside_reading(self) -> dict[str, Any]:
        """What share of the rate of reading the weights a decode reaches, with a sweep after every eight tokens."""
        with BesideReading(self.llm, self.reading) as beside:
            for _ in range(self.workload.repeats):
                self.ask(self.others.next(self.workload.decode_prompt), self.workload.decode_new)
        return summary(beside.shares, "share")

    def batch(self) -> dict[str, Any]:
        work, rates = self.workload, []
        for _ in range(work.repeats):
            prompts = [self.prompts.next(work.batch_prompt) for _ in range(work.batch)]
            start = time.perf_counter()
            self.llm.generate(prompts, greedy(work.batch_new))
            rates.append(work.batch * work.batch_new / (time.perf_counter() - start))
        sizes = {"requests": work.batch, "prompt": work.batch_prompt, "new": work.batch_new}
        return self.told("batch", sizes | summary(rates, "tokens_per_s"))

    def first_tokens(self, length: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Cold at every length; warm at the longest only, so that the stream of prompts is the other engines'."""
        cold, warm, alone = [], [], []
        for _ in range(self.workload.repeats):
            prompt = self.prompts.next(length)
            cold.append(self.ask(prompt, 1))
            if length == max(self.workload.lengths):
                warm += [self.ask(prompt[:-TAIL] + self.prompts.next(TAIL), 1) for _ in range(2)]
                alone += [self.ask(self.others.next(TAIL), 1) for _ in range(2)]
        prefill = self.told(f"prefill {length}", summary([length / r.first_token_s for r in cold], "tokens_per_s"))
        if not warm:
            return prefill, {}
        cold_s = summary([reply.first_token_s for reply in cold], "s")
        warm_s = summary([reply.first_token_s for reply in warm], "s")
        figures = {"prompt": length, "differing_tail": TAIL, "cold_ttft": cold_s, "warm_ttft": warm_s}
        figures["cached_tokens"] = [reply.cached_tokens for reply in warm]
        figures["times_faster"] = round(cold_s["s"] / warm_s["s"], 2)
        figures["bound"] = self.warm_bound(length - TAIL, [reply.first_token_s for reply in alone])
        figures["over_bound"] = round(warm_s["s"] / figures["bound"]["s"], 3)
        return prefill, self.told("warm", figures)

    def warm_bound(self, tokens: int, alone: list[float]) -> dict[str, Any]:
        """A pass of TAIL tokens after nothing, and the reading of `tokens` tokens' keys and values."""
        size, rate = kv_bytes(self.llm, tokens), statistics.median([*self.read, self.reading.rate()])
        without = summary(alone, "s")
        return {
            "s": round(without["s"] + size / rate, 4),
            "prefix_free": without,
            "kv_bytes": size,
            "kv_s": size / rate,
        }

    def warm_short(self, length: int) -> dict[str, Any]:
        """As warm, at another length, with prompts of its own."""
        cold, warm = [], []
        for _ in range(self.workload.repeats):
            prompt = self.others.next(length)
            cold.append(self.ask(prompt, 1))
            warm += [self.ask(prompt[:-TAIL] + self.others.next(TAIL), 1) for _ in range(2)]
        figures = {"prompt": length, "cached_tokens": [reply.cached_tokens for reply in warm]}
        figures["cold_ttft"] = summary([reply.first_token_s for reply in cold], "s")
        figures["warm_ttft"] = summary([reply.first_token_s for reply in warm], "s")
        return self.told("warm_short", figures)

    def ask(self, prompt: list[int], new: int) -> Any:
        (output,) = self.llm.generate([prompt], greedy(new))
        assert len(output.outputs[0].token_ids) == new, output
        return output

    def told(self, name: str, figures: dict[str, Any]) -> dict[str, Any]:
        print(f"[{time.perf_counter() - self.began:6.1f} s] {name} {figures}", file=sys.stderr, flush=True)
        return figures


def greedy(new: int) -> SamplingParams:
    return SamplingParams(temperature=0.0, max_tokens=new, ignore_eos=True)


def summary(values: list[float], unit: str) -> dict[str, Any]:
    return {unit: round(statistics.median(values), 4), "runs": [round(value, 4) for value in values]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 2048, 8192])
    parser.add_argument("--new", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--kernels", default="auto")
    parser.add_argument("--max-num-batched-tokens", type=int, default=2048)
    parser.add_argument("--out", type=Path, help="write the JSON here instead of standard output")
    args = parser.parse_args()

    work = Workload(tuple(args.lengths), decode_new=args.new, repeats=args.repeats, seed=args.seed)
    config = json.loads((args.checkpoint / "config.json").read_text(encoding="utf-8"))
    settings = {"dtype": args.dtype, "kernels": args.kernels, "max_num_batched_tokens": args.max_num_batched_tokens}
    started = time.perf_counter()
    llm = LLM(
        str(args.checkpoint), threads=args.threads, max_model_len=work.longest + 64, max_num_seqs=work.batch, **settings
    )
    loaded = time.perf_counter() - started
    result = {
        "peer": "isotherm",
        "versions": {"isotherm": __version__, "torch": version("torch"), "python": platform.python_version()},
        "settings": settings | {"threads": args.threads, "build": llm.info.build},
        "checkpoint": args.checkpoint.name,
        "date": time.strftime("%Y-%m-%d"),
        "load_s": round(loaded, 1),
        "figures": Bench(llm, work, config["vocab_size"]).figures(),
        "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    text = json.dumps(result, indent=1) + "\n"
    if args.out:
        args.out.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
