"""Speed of attention by context, torch's SDPA beside it in the same run: `python -m isotherm.kernels.attention.bench`."""

import argparse
import os
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from isotherm.core.constants import blocks_for
from isotherm.kernels.api import Kernels
from isotherm.kernels.linear.bench import seconds
from isotherm.kernels.load import load_kernels
from isotherm.kernels.segments import one_segment
from isotherm.kernels.state import KVShape

HEADS, GROUP, DIM = 2, 4, 256
CONTEXTS = (512, 2048, 8192)
SCALE = DIM**-0.5


def heads_first(x: Tensor, repeat: int = 1) -> Tensor:
    """[T, H*D] -> [1, H*repeat, T, D], each head repeated for the query heads that read it."""
    return x.view(x.shape[0], -1, DIM).transpose(0, 1).repeat_interleave(repeat, 0).contiguous()[None]


def measure(kernels: Kernels, context: int, budget: float) -> Iterator[str]:
    """Two lines: the whole context in one pass, then one token after it."""
    store = kernels.kv_store(KVShape(HEADS, DIM), blocks_for(context))
    q, k, v = (torch.randn(context, width * DIM).to(kernels.dtype) for width in (HEADS * GROUP, HEADS, HEADS))
    kernels.write_kv(one_segment(0, context), k, v, store)
    keys, values = heads_first(k, GROUP), heads_first(v, GROUP)
    for rows in (context, 1):
        batch, own, queries = one_segment(context - rows, rows), q[-rows:].clone(), heads_first(q[-rows:])
        ours, torchs = seconds(
            (
                lambda _, b=batch, x=own: kernels.attention(b, x, store, SCALE),  # type: ignore[misc]
                lambda _, x=queries, n=rows: scaled_dot_product_attention(x, keys, values, is_causal=n > 1),  # type: ignore[misc]
            ),
            1,
            budget,
        )
        pairs = rows * (2 * context - rows + 1) / 2
        flops, size = 4 * HEADS * GROUP * DIM * pairs, 2 * context * HEADS * DIM * kernels.dtype.itemsize
        yield (
            f"context {context:6} rows {rows:6}  {ours * 1e3:9.3f} ms {flops / ours / 1e9:6.0f} GFLOP/s "
            f"{size / ours / 1e9:5.1f} GB/s   SDPA {torchs * 1e3:9.3f} ms   x{torchs / ours:.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dtype", choices=("auto", "bfloat16", "float32"), default="auto")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--contexts", type=int, nargs="+", default=CONTEXTS)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each line")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    kernels = load_kernels("c", args.dtype, args.threads)
    print(
        f"{kernels.fingerprint()['isa']}, {kernels.dtype}, {args.threads} threads; {HEADS} x {GROUP} heads of {DIM}; medians"
    )
    for context in args.contexts:
        for line in measure(kernels, context, args.seconds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
