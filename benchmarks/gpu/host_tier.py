"""What a prefix of 30,000 tokens costs to bring back from the host tier, against computing it again; one GPU, random weights.

    PYTHONPATH=src python benchmarks/gpu/host_tier.py [dense moe] [--layers 24] [--out FILE]

Models as in whole_model.py. A prompt of 30,000 tokens is served, pushed out of a device pool that holds little more than one such
prompt by another, and asked again with 64 new tokens; in turn with prompts that nothing shares. For each model:

- cold_ms, reload_ms, warm_ms: time to first token of a prompt that is computed, that comes back from the host, and that is on the
  device; medians of `--rounds`;
- exact: whether answers and log-probabilities after a reload are those of the prompt computed anew;
- gib, copy_ms: what a reload copies in, and how long these copies take alone, measured on the device (and out);
- pin_s: seconds until the host's memory is there and pinned.
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import torch
from whole_model import LANES, LONGEST, Bench, random_decoder, spec_of

from isotherm.cache import TieredPrefixCache
from isotherm.core.config import SchedulerConfig
from isotherm.core.layout import Layout
from isotherm.core.plan import HostCopies
from isotherm.core.sampling import SamplingParams
from isotherm.core.vocabulary import Vocabulary
from isotherm.kernels.load import load_kernels
from isotherm.model.decoder import Decoder
from isotherm.runner.capacity import Capacity
from isotherm.runner.runner import Runner
from isotherm.scheduler.scheduler import Scheduler

BLOCKS, SLOTS, HOST = 700, 40, (1600, 60)
STEM = 30_000


class Tiered(Bench):
    """An engine whose device holds one long prompt, and the host three."""

    def __init__(self, decoder: Decoder, budget: int):
        super().__init__(decoder, budget)
        started = time.perf_counter()
        self.runner = Runner(decoder, Capacity(BLOCKS + 1, SLOTS + 1, LANES, 0, 0, *HOST))
        self.pin_s = time.perf_counter() - started
        self.cache = TieredPrefixCache(BLOCKS, SLOTS, *HOST)
        vocabulary = Vocabulary(tuple(b"x" for _ in range(self.vocab)), frozenset(), (0,))
        self.scheduler = Scheduler(SchedulerConfig(LANES, budget), self.cache, Layout(2048), vocabulary, LONGEST)

    def step(self) -> list[Any]:
        plan = self.scheduler.schedule()
        if plan is None:
            return self.scheduler.idle()
        self.runner.carry(plan)
        return self.scheduler.complete(plan, self.runner.run(plan))


def copies_alone(bench: Tiered) -> tuple[float, float, float]:
    """GiB, and milliseconds in and out, of the blocks of one stem and a state; ids in the order in which they are handed out."""
    host, count = bench.runner.host, STEM // 64
    assert host is not None
    pairs = tuple((identity, identity) for identity in range(1, count + 1))
    times = []
    for copies in (HostCopies(blocks_in=pairs, slots_in=((1, 1),)), HostCopies(pairs, ((1, 1),))):
        found = []
        for _ in range(4):
            torch.cuda.synchronize()
            start = time.perf_counter()
            host.take(copies)
            host.give(copies)
            torch.cuda.synchronize()
            found.append(1e3 * (time.perf_counter() - start))
        times.append(statistics.median(found[1:]))
    size = count * host.blocks.rows[0].nbytes + host.slots.rows[0].nbytes
    return size / 2**30, times[0], times[1]


@torch.inference_mode()
def measure(kind: str, layers: int, budget: int, rounds: int) -> dict[str, Any]:
    decoder, _ = random_decoder(spec_of(kind, layers), load_kernels("triton"))
    bench = Tiered(decoder, budget)
    params = SamplingParams(temperature=0.0, max_tokens=4, logprobs=5, ignore_eos=True)
    stems = [bench.tokens(STEM) for _ in range(2)]
    times: dict[str, list[float]] = {"cold_ms": [], "reload_ms": [], "warm_ms": []}
    exact = True
    for turn in range(rounds + 1):
        hits = bench.scheduler.stats().host.hits
        for stem in stems:
            prompt = (*stem, *bench.tokens(64))
            again = bench.answer(prompt, params)
            warm = bench.answer((*stem, *bench.tokens(64)), params)
            anew = bench.answer(prompt, params, fresh=True) if stem is stems[0] else None
            if turn:
                exact &= anew is None or anew[1] == again[1]
                times["reload_ms"].append(1e3 * again[0])
                times["warm_ms"].append(1e3 * warm[0])
                if anew is not None:
                    times["cold_ms"].append(1e3 * anew[0])
        stats = bench.scheduler.stats().host
        assert not turn or stats.hits == hits + len(stems), f"hits {hits} -> {stats}"
    size, copy_in, copy_out = copies_alone(bench)
    found = {name: round(statistics.median(values), 2) for name, values in times.items()}
    return found | {"exact": exact, "gib": size, "copy_in_ms": copy_in, "copy_out_ms": copy_out, "pin_s": bench.pin_s}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("kinds", nargs="*", default=["dense", "moe"])
    parser.add_argument("--layers", type=int, default=24, help="of the mixture")
    parser.add_argument("--budget", type=int, default=8192, help="tokens a pass")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    named = {"card": torch.cuda.get_device_name(), "torch": torch.__version__, "date": time.strftime("%Y-%m-%d")}
    found = {
        kind: measure(kind, options.layers if kind == "moe" else 32, options.budget, options.rounds)
        for kind in options.kinds
    }
    text = json.dumps(named | found, indent=1)
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
