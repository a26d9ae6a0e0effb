"""Speed of the gated delta rule and its convolution: `python -m isotherm.kernels.gated_delta.bench`.

8 key and 16 value heads of 128. Layers take turns over states of their own, so that one row reads its state from memory as a
model does.
"""

import argparse
import os
from collections.abc import Iterator

import torch

from isotherm.kernels.api import Kernels
from isotherm.kernels.linear.bench import seconds
from isotherm.kernels.load import load_kernels
from isotherm.kernels.segments import one_segment
from isotherm.kernels.state import ConvShape, DeltaShape

SHAPE = DeltaShape(key_heads=8, value_heads=16, key_dim=128, value_dim=128)
WIDTH = 2 * SHAPE.key_heads * SHAPE.key_dim + SHAPE.value_heads * SHAPE.value_dim
LAYERS = 36
MACS = 16 * (3 * 128 * 128 + 2 * 32 * 128) + 8 * 2 * 32 * 128
"""Multiply-adds a token: reading the state with k and q and folding it, two triangular products, the dots of a key head."""


def measure(kernels: Kernels, start: int, tokens: int, budget: float) -> Iterator[str]:
    """One line for each operation."""
    batch = one_segment(start, tokens)
    delta = [kernels.delta_state(SHAPE, slots=2, lanes=1) for _ in range(LAYERS)]
    conv = [kernels.conv_state(ConvShape(WIDTH, 4), slots=2, lanes=1) for _ in range(LAYERS)]
    for layer in delta:
        for rows in layer.rows.values():
            rows.zero_()
    qkv, b, a = (torch.randn(tokens, width).to(kernels.dtype) for width in (WIDTH, 16, 16))
    weight, decay, bias = torch.randn(WIDTH, 4), -torch.rand(16), torch.randn(16)
    rule, convolution = seconds(
        (
            lambda i: kernels.gated_delta(batch, qkv, b, a, decay, bias, delta[i]),
            lambda i: kernels.causal_conv(batch, qkv, weight, conv[i]),
        ),
        LAYERS,
        budget,
    )
    speed = (
        f"{2 * MACS * tokens / rule / 1e9:6.0f} GFLOP/s"
        if tokens > 1
        else f"{delta[0].state[0].nbytes / rule / 1e9:6.1f} GB/s of state"
    )
    yield f"start {start:5} rows {tokens:5}  delta rule {rule / tokens * 1e6:8.2f} us a token {speed}"
    yield f"start {start:5} rows {tokens:5}  convolution {convolution / tokens * 1e6:7.2f} us a token"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dtype", choices=("auto", "bfloat16", "float32"), default="auto")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=2.0, help="for each number of rows")
    args = parser.parse_args()
    kernels = load_kernels("c", args.dtype, args.threads)
    print(f"{kernels.fingerprint()['isa']}, {kernels.dtype}, {args.threads} threads; medians")
    for start, tokens in ((0, 512), (0, 2048), (0, 8192), (0, 1), (32, 1), (62, 1)):
        for line in measure(kernels, start, tokens, args.seconds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
