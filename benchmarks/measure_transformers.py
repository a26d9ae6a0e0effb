"""transformers on the workload of measure_isotherm.py: prefill, decode and a batch, in any dtype; prints JSON.

    python benchmarks/measure_transformers.py CHECKPOINT [--dtype float32] [--threads 2] [--repeats 2] [--lengths 512 2048]

For instructions that a smaller machine has: ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 MKL_ENABLE_INSTRUCTIONS=AVX2.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
import transformers
from measure_isotherm import summary

from isotherm.bench.workload import Prompts, Workload


class Clock(transformers.generation.streamers.BaseStreamer):
    """When the prompt and each token were handed out."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def put(self, value: torch.Tensor) -> None:
        self.times.append(time.perf_counter())

    def end(self) -> None:
        pass


def ask(model: Any, prompt: list[int], new: int) -> tuple[float, float]:
    """Seconds to the first token, and from there to the last."""
    clock, start = Clock(), time.perf_counter()
    model.generate(torch.tensor([prompt]), max_new_tokens=new, do_sample=False, streamer=clock)
    return clock.times[1] - start, clock.times[-1] - clock.times[1]  # times[0] is the prompt


def figures(model: Any, work: Workload, vocabulary: int) -> dict[str, Any]:
    """As measure_isotherm.py has them, without the warm ones: nothing is kept between calls."""
    prompts, repeats = Prompts(vocabulary, work.seed), range(work.repeats)
    ask(model, prompts.next(600), 4)  # untimed
    decode = [(work.decode_new - 1) / ask(model, prompts.next(work.decode_prompt), work.decode_new)[1] for _ in repeats]
    batch = []
    for _ in repeats:
        many, start = torch.tensor([prompts.next(work.batch_prompt) for _ in range(work.batch)]), time.perf_counter()
        model.generate(many, max_new_tokens=work.batch_new, do_sample=False)
        batch.append(work.batch * work.batch_new / (time.perf_counter() - start))
    prefill = {
        length: summary([length / ask(model, prompts.next(length), 1)[0] for _ in repeats], "tokens_per_s")
        for length in work.lengths
    }
    return {"decode": summary(decode, "tokens_per_s"), "batch": summary(batch, "tokens_per_s"), "prefill": prefill}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 2048])
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    model = transformers.AutoModelForCausalLM.from_pretrained(args.checkpoint, dtype=getattr(torch, args.dtype)).eval()
    model.generation_config.eos_token_id = None
    work = Workload(tuple(args.lengths), repeats=args.repeats)
    result = {"version": transformers.__version__, "torch": torch.__version__, "dtype": args.dtype}
    result["capability"] = torch.backends.cpu.get_cpu_capability()
    print(json.dumps(result | {"figures": figures(model, work, model.config.vocab_size)}, indent=1))


if __name__ == "__main__":
    main()
