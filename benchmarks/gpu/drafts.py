"""Speculative decoding on one GPU, a dense 4 B model with random weights and a drafter layer; prints a table.

    PYTHONPATH=src python benchmarks/gpu/drafts.py [--drafts 1 3] [--at-once 1 8] [--out FILE]

What is measured, and what the bound holds, is in benchmarks/measure_drafts.py.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import torch
from whole_model import Bench as Engine
from whole_model import RandomWeights, random_decoder, spec_of

from isotherm.cache import PrefixCache
from isotherm.core.config import SchedulerConfig, SpeculativeConfig
from isotherm.core.layout import Layout
from isotherm.core.request import Request
from isotherm.core.vocabulary import Vocabulary
from isotherm.kernels.load import load_kernels
from isotherm.model.decoder import Decoder
from isotherm.model.mtp import Mtp, _layer
from isotherm.runner.capacity import Capacity
from isotherm.runner.drafter import Drafter
from isotherm.runner.runner import Runner
from isotherm.scheduler.scheduler import Scheduler

sys.path.insert(0, str(Path(__file__).parents[1]))
import measure_drafts

BLOCKS, SLOTS, LONGEST = 400, 40, 2048


def random_mtp(decoder: Decoder) -> Mtp:
    """A drafter of the decoder's sizes."""
    kernels, spec = decoder.kernels, decoder.spec
    weights: Any = RandomWeights(kernels.device)
    hidden = spec.hidden_size

    def norm() -> torch.Tensor:
        return weights.take("norm", hidden).float() + 1.0

    return Mtp(
        embedding_norm=norm(),
        hidden_norm=norm(),
        fc=kernels.pack(weights.take("fc", hidden, 2 * hidden)),
        layer=_layer(weights, spec, kernels),
        norm=norm(),
        eps=spec.norm_eps,
        table=decoder.table,
        head=decoder.head,
        rope=decoder.rope,
    )


class Subject:
    """An engine around a decoder, with its drafter or without."""

    def __init__(self, decoder: Decoder, lanes: int, drafter: Drafter | None, most: int):
        self.runner = Runner(decoder, Capacity(BLOCKS, SLOTS, lanes, 0, 0), drafter)
        vocabulary = Vocabulary(tuple(b"x" for _ in range(decoder.spec.vocab_size)), frozenset(), (0,))
        cache = PrefixCache(BLOCKS - 1, SLOTS - 1, enabled=False)
        config = SpeculativeConfig("mtp", most) if drafter else None
        self.scheduler = Scheduler(SchedulerConfig(lanes, 2048), cache, Layout(0), vocabulary, LONGEST, config)

    def add(self, request: Request) -> None:
        self.scheduler.add(request)

    step = Engine.step


def main() -> None:
    parser = measure_drafts.options(argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None))
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument(
        "--device", choices=("cuda", "cpu"), default="cuda", help="cpu: a few layers, to try the script"
    )
    args = parser.parse_args()
    kernels = load_kernels("triton" if args.device == "cuda" else "c")
    decoder, _ = random_decoder(spec_of("dense", args.layers), kernels)
    lanes, most = max(args.at_once), max(args.drafts)
    plain, drafting = (
        Subject(decoder, lanes, drafter, most) for drafter in (None, Drafter(random_mtp(decoder), decoder))
    )
    generator = torch.Generator().manual_seed(args.seed)
    texts = torch.randint(1, decoder.spec.vocab_size, (lanes, args.prompt), generator=generator).tolist()
    bench = measure_drafts.Bench(plain, drafting, texts, args.new, LONGEST)  # type: ignore[arg-type]
    rows = bench.settings(args.at_once, args.drafts, args.chances, args.rounds)
    card = torch.cuda.get_device_name() if args.device == "cuda" else "cpu"
    measure_drafts.report(rows, {"card": card, "torch": torch.__version__}, args.out)


if __name__ == "__main__":
    main()
