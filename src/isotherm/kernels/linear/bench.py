"""Speed of linear layers by shape and rows, torch's beside it in the same run: `python -m isotherm.kernels.linear.bench`."""

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from isotherm.kernels.load import load_kernels

SHAPES = ((1024, 6176), (2048, 1024), (1024, 6144), (3072, 1024), (1024, 5120), (1024, 32768))
ROWS = (1, 2, 4, 8, 64, 512, 2048)
WORKING_SET = 96 << 20  # bytes of weights that calls cycle through, so that few rows read them from memory


def seconds(calls: tuple[Callable[[int], object], ...], copies: int, budget: float) -> list[float]:
    """The median time of each call, taken in turns over the copies of the weight so that load falls on all alike."""
    times: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + budget
    turn = 0
    while turn < 3 or time.perf_counter() < end:
        for call, taken in zip(calls, times, strict=True):
            start = time.perf_counter()
            call(turn % copies)
            taken.append(time.perf_counter() - start)
        turn += 1
    return [sorted(taken)[len(taken) // 2] for taken in times]


def over(f: Callable[[Tensor, Any], Tensor], x: Tensor, weights: Sequence[Any]) -> Callable[[int], Tensor]:
    """f on x and the i-th copy of the weight."""
    return lambda i: f(x, weights[i])


def measure(dtype: str, threads: int, rows: tuple[int, ...], budget: float) -> Iterator[str]:
    """One line a shape and number of rows."""
    kernels = load_kernels("c", dtype, threads)  # type: ignore[arg-type]
    for k, n in SHAPES:
        size = n * k * kernels.dtype.itemsize
        copies = max(1, min(16, WORKING_SET // size))
        weights = [(torch.randn(n, k) * 0.05).to(kernels.dtype) for _ in range(copies)]
        packed = [kernels.pack(weight) for weight in weights]
        for m in rows:
            x = torch.randn(m, k).to(kernels.dtype)
            calls = (over(kernels.linear, x, packed), over(torch.nn.functional.linear, x, weights))
            ours, torchs = seconds(calls, copies, budget)
            flops = 2 * m * n * k
            yield (
                f"K={k:5} N={n:5} M={m:5}  {flops / ours / 1e9:6.0f} GFLOP/s {size / ours / 1e9:5.1f} GB/s"
                f"   torch {flops / torchs / 1e9:6.0f} GFLOP/s {size / torchs / 1e9:5.1f} GB/s   x{torchs / ours:.2f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dtype", choices=("auto", "bfloat16", "float32"), default="auto")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each line")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    kernels = load_kernels("c", args.dtype, args.threads)
    print(f"{kernels.fingerprint()['isa']}, {kernels.dtype}, {args.threads} threads; medians; GB/s of weights")
    for line in measure(args.dtype, args.threads, tuple(args.rows), args.seconds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
