"""Trains the embedded model. One command, one GPU; on a CPU only as a smoke run.

python -m training.train --out RUN --steps 2430
"""

import argparse
import csv
import os
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Subset

from training.export import export
from training.loss import forward, head_loss
from training.network import Network, Shape
from training.optimizer import make_optimizers
from training.packing import Plan


def learning_rate(step: int, steps: int, warmup: int, cooldown: float) -> float:
    """The share of the peak rate: linear up, constant, linear down over the last `cooldown` of the run."""
    down = max(1.0, steps * cooldown)
    return min(1.0, (step + 1) / max(1, warmup), max(0.02, (steps - step) / down))


def schedule_step(step: int, steps: int, spent: float, allowed: float) -> int:
    """Where in the schedule a run stands: by its steps, or by the clock where the allowed seconds end before the steps do."""
    return max(step, int(steps * spent / allowed)) if allowed else step


def prepare(args: argparse.Namespace) -> tuple[Network, list[torch.optim.Optimizer], int]:
    """The network, its optimizers and the step to begin with; a checkpoint in the run's folder is taken up."""
    torch.manual_seed(args.seed)
    cuda = torch.cuda.is_available()
    shape = (
        Shape()
        if args.shape == "full"
        else Shape(
            hidden_size=64,
            intermediate_size=96,
            num_hidden_layers=4,
            head_dim=32,
            num_attention_heads=2,
            num_key_value_heads=1,
            linear_heads=1,
            linear_head_dim=32,
            rotary_dim=8,
        )
    )
    network = Network(shape, torch.bfloat16 if cuda else torch.float32).to("cuda" if cuda else "cpu")
    if args.init:
        from safetensors.torch import load_file

        from training.export import from_checkpoint

        network.load_state_dict(from_checkpoint(load_file(args.init)))
    optimizers = make_optimizers(network, args.muon_lr, args.adam_lr)
    saved = args.out / "checkpoint.pt"
    if not saved.exists():
        return network, optimizers, 0
    state = torch.load(saved, map_location="cuda" if cuda else "cpu")
    network.load_state_dict(state["network"])
    for optimizer, stored in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(stored)
    return network, optimizers, int(state["step"])


def save(args: argparse.Namespace, network: Network, optimizers: list[torch.optim.Optimizer], step: int) -> None:
    """A checkpoint from which the same run continues."""
    state = {"network": network.state_dict(), "optimizers": [o.state_dict() for o in optimizers], "step": step}
    torch.save(state, args.out / "checkpoint.part")
    (args.out / "checkpoint.part").replace(args.out / "checkpoint.pt")


def train(args: argparse.Namespace) -> None:
    """Run, log to loss.csv, and export the model."""
    args.out.mkdir(parents=True, exist_ok=True)
    torch.backends.cuda.matmul.allow_tf32 = True
    opened = time.monotonic()
    network, optimizers, start = prepare(args)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loss_of = head_loss
    if device == "cuda" and not args.eager:
        for layer in [*network.model.layers, *network.mtp.layers]:
            layer.compile()
        loss_of = torch.compile(head_loss)
    plan = Plan(args.seed, args.steps, args.rows, args.length, args.long_share, args.long_from)
    loader = DataLoader(
        Subset(plan, range(start, args.steps)),
        batch_size=None,
        num_workers=args.workers,
        pin_memory=device == "cuda",
        prefetch_factor=args.prefetch if args.workers else None,
    )
    peaks = [group["lr"] if "peak" not in group else group["peak"] for o in optimizers for group in o.param_groups]
    began = seen = allowed = 0.0
    with (args.out / "loss.csv").open("a", newline="") as file:
        log = csv.writer(file)
        if start == 0:
            log.writerow(
                ["step", "seconds", "tokens_per_second", "loss", "mtp_loss", "accuracy", "mtp_accuracy", "gradient"]
            )
        for step, batch in enumerate(loader, start):
            place = schedule_step(step, args.steps, time.monotonic() - began, allowed)
            rate = learning_rate(min(place, args.steps - 1), args.steps, args.warmup, args.cooldown)
            for group, peak in zip((g for o in optimizers for g in o.param_groups), peaks, strict=True):
                group["lr"], group["peak"] = peak * rate, peak
            losses = forward(network, batch.to(device), loss_of)
            losses.total.backward()
            norm = torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            if step == start + 5 or not began:
                began, seen = time.monotonic(), 0.0
                allowed = args.within * 60 - (began - opened) if args.within else 0.0
            seen += batch.tokens.numel()
            if step % args.log_every == 0 or step == args.steps - 1:
                values = [float(x.detach()) for x in (losses.trunk, losses.mtp, losses.right, losses.mtp_right, norm)]
                spent = time.monotonic() - began
                log.writerow([step, round(spent, 1), int(seen / max(spent, 1e-9)), *(round(v, 4) for v in values)])
                file.flush()
                print(
                    step,
                    f"{spent:.1f}s",
                    f"{seen / max(spent, 1e-9) / 1e6:.2f}M/s",
                    *(f"{v:.4f}" for v in values),
                    flush=True,
                )
            if args.save_every and (step + 1) % args.save_every == 0:
                save(args, network, optimizers, step + 1)
            spent = time.monotonic() - began
            if (args.minutes and spent > args.minutes * 60) or (allowed and spent > allowed):
                print("out of time", flush=True)
                break
    export(network, args.out / "model")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the run; a checkpoint in it is taken up")
    parser.add_argument("--init", type=Path, help="model.safetensors to begin from")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=3600)
    parser.add_argument("--rows", type=int, default=4)
    parser.add_argument("--length", type=int, default=32768, help="tokens a row")
    parser.add_argument("--long-share", type=float, default=0.12, help="rows that begin with a long document")
    parser.add_argument("--long-from", type=int, default=300, help="the step from which there are any")
    parser.add_argument("--muon-lr", type=float, default=0.03)
    parser.add_argument("--adam-lr", type=float, default=0.003)
    parser.add_argument("--warmup", type=int, default=100)
    parser.add_argument("--cooldown", type=float, default=0.6)
    parser.add_argument("--workers", type=int, default=max(0, (os.cpu_count() or 1) - 1))
    parser.add_argument("--prefetch", type=int, default=8, help="batches that each worker has ready")
    parser.add_argument("--log-every", type=int, default=20)
    parser.add_argument("--save-every", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0.0, help="stop and export after this long")
    parser.add_argument(
        "--within", type=float, default=0.0, help="end by then, in minutes from the start; the rate falls by the clock"
    )
    parser.add_argument("--shape", choices=("full", "tiny"), default="full")
    parser.add_argument("--eager", action="store_true", help="do not compile")
    return parser.parse_args()


if __name__ == "__main__":
    train(arguments())
