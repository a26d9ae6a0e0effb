"""A short second stage on the CPU: short conversations, small batches, low rates.

python -m training.polish --init RUN/model/model.safetensors --out POLISHED --steps 150
"""

import argparse
import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from torch import Tensor

from training.conversation import conversation, short
from training.delta_rule import CHUNK
from training.evaluate import load_network
from training.export import export
from training.loss import forward
from training.network import Network
from training.optimizer import make_optimizers
from training.packing import Batch, Row, encode, stack
from training.scene import Scene


def draw(seed: int, number: int) -> Scene:
    """Mostly short conversations, some of the first stage's."""
    rng = random.Random(f"polish/{seed}/{number}")
    return conversation(seed, rng.getrandbits(40)) if rng.random() < 0.15 else short(rng)


def part(seed: int, number: int, length: int) -> Batch:
    """One row of whole conversations."""
    rng = random.Random(f"part/{seed}/{number}")
    row, misses = Row(length), 0
    while misses < 6:
        tokens, weights = encode(draw(seed, rng.getrandbits(40)))
        if -(-len(tokens) // CHUNK) * CHUNK <= length - row.used:
            row.add(tokens, weights)
        else:
            misses += 1
    return stack([row])


def gradients(network: Network, batch: Batch) -> tuple[list[Tensor | None], list[float]]:
    """Those of the batch's loss, and its figures."""
    losses = forward(network, batch)
    found = torch.autograd.grad(losses.total, list(network.parameters()), allow_unused=True)
    return list(found), [float(x.detach()) for x in (losses.trunk, losses.mtp, losses.right)]


def polish(args: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    network = load_network(args.init.parent).train()
    network.dtype = torch.bfloat16
    optimizers = make_optimizers(network, args.muon_lr, args.adam_lr)
    peaks = [[group["lr"] for group in o.param_groups] for o in optimizers]
    began = time.monotonic()
    with ThreadPoolExecutor(args.threads) as pool:
        for step in range(args.steps):
            batches = [part(args.seed, step * args.parts + i, args.length) for i in range(args.parts)]
            done = list(pool.map(lambda batch: gradients(network, batch), batches))
            for parameter, *found in zip(network.parameters(), *(g for g, _ in done), strict=True):
                parameter.grad = torch.stack([g for g in found if g is not None]).mean(0)
            rate = min(1.0, (step + 1) / 10, (args.steps - step) / (0.8 * args.steps))
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            for optimizer, peak in zip(optimizers, peaks, strict=True):
                for group, lr in zip(optimizer.param_groups, peak, strict=True):
                    group["lr"] = lr * rate
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            means = [sum(f[i] for _, f in done) / len(done) for i in range(3)]
            print(step, f"{time.monotonic() - began:.0f}s", *(f"{m:.4f}" for m in means), flush=True)
            if (step + 1) % 20 == 0 or step + 1 == args.steps:
                export(network, args.out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--init", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--parts", type=int, default=4, help="rows a step, computed one by one")
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--muon-lr", type=float, default=0.003)
    parser.add_argument("--adam-lr", type=float, default=0.0004)
    polish(parser.parse_args())


if __name__ == "__main__":
    main()
