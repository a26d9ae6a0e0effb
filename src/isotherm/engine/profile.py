"""Where the time of a pass goes, by operation, each with its bound: `python -m isotherm.engine.profile CHECKPOINT`.

Calls are timed one by one, so a pass of few rows takes longer than in the engine, which plays its calls in one. An operation's
time is the lower tenth of its calls, which other work on the machine disturbs least. Its bound is what must be read from memory
at the measured rate, or multiplied at the measured rate, whichever is longer.
"""

import argparse
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import torch

from isotherm.kernels.api import Kernels
from isotherm.kernels.c_provider import CKernels
from isotherm.kernels.load import load_kernels
from isotherm.kernels.native.roof import Roof, measure
from isotherm.model.decoder import Decoder
from isotherm.model.load import load_decoder
from isotherm.runner.forward import Sequenced

CHUNK = 512


@dataclass(slots=True)
class Operation:
    """All calls of one operation and shape. bytes, flops: of one call, 0 where they bound nothing."""

    bytes: int
    flops: int
    times: list[float] = field(default_factory=list)


class Timed:
    """A provider that times another's calls. context: tokens before the pass."""

    def __init__(self, kernels: Kernels, context: int):
        self.kernels, self.context = kernels, context
        self.operations: dict[str, Operation] = {}

    def __getattr__(self, name: str) -> Any:
        call = getattr(self.kernels, name)
        return self._timed(name, call) if callable(call) else call

    def _timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any) -> Any:
            start = time.perf_counter()
            result = call(*args)
            taken = time.perf_counter() - start
            label, size, flops = work_of(name, args, self.context)
            self.operations.setdefault(label, Operation(size, flops)).times.append(taken)
            return result

        return timed


def work_of(name: str, args: tuple[Any, ...], context: int) -> tuple[str, int, int]:
    """A label, the bytes that a call must read and the operations that it must do; of calls that cost little, neither."""
    if name in ("linear", "logits"):
        x, weight = args[0], args[1]
        return f"{name} {weight.k} x {weight.n}", weight.data.nbytes, 2 * x.shape[0] * weight.n * weight.k
    if name == "attention":
        batch, q, store = args[:3]
        width, seen = store.shape.heads * store.shape.dim, context + (batch.rows + 1) / 2
        return name, 2 * (context + batch.rows) * width * q.itemsize, int(4 * batch.rows * seen * q.shape[1])
    if name == "gated_delta":
        return name, args[6].state[0].nbytes, 0
    return name, 0, 0


def _tokens(decoder: Decoder, count: int, rng: random.Random) -> list[int]:
    return [rng.randrange(decoder.spec.vocab_size) for _ in range(count)]


def profile(decoder: Decoder, start: int, rows: int, seconds: float) -> dict[str, Operation]:
    """Passes of `rows` tokens after about `start`, three at least; each call's typical time, once a call of a pass."""
    rng, timed, passes, end = random.Random(0), Timed(decoder.kernels, start), 0, 0.0
    sequence: Sequenced | None = None
    while passes < 3 or time.perf_counter() < end:
        if sequence is None or sequence.length > start + 64:
            sequence = Sequenced(decoder, start + rows + 65)
            for begin in range(0, start, CHUNK):
                sequence.rows(_tokens(decoder, min(CHUNK, start - begin), rng))
            sequence.decoder = replace(decoder, kernels=cast(Kernels, timed))
            end = end or time.perf_counter() + seconds
        _, hidden = sequence.rows(_tokens(decoder, rows, rng))
        with torch.inference_mode():
            sequence.decoder.logits(hidden[-1:])
        passes += 1
    return {label: _typical(operation, passes) for label, operation in timed.operations.items()}


def _typical(operation: Operation, passes: int) -> Operation:
    times = sorted(operation.times)
    return Operation(operation.bytes, operation.flops, [times[len(times) // 10]] * (len(times) // passes))


def lines(operations: dict[str, Operation], roof: Roof) -> list[str]:
    """A table, the longest first; in the last column how near an operation comes to its bound."""
    table = [f"{'operation':24} {'calls':>5} {'us each':>9} {'ms':>8} {'share':>6}  of its bound"]
    whole, bounds = sum(sum(operation.times) for operation in operations.values()), 0.0
    for label, operation in sorted(operations.items(), key=lambda item: -sum(item[1].times)):
        one, total = operation.times[0], sum(operation.times)
        read, multiplied = operation.bytes / roof.read, operation.flops / roof.multiply
        bound = max(read, multiplied)
        bounds += bound * len(operation.times)
        told = f"{bound / one:4.0%} {'reading' if read > multiplied else 'multiplying'}" if bound else ""
        start = f"{label:24} {len(operation.times):5} {one * 1e6:9.1f} {total * 1e3:8.3f} {total / whole:6.1%}"
        table.append(f"{start}  {told}".rstrip())
    return [*table, f"{'all':24} {'':5} {'':9} {whole * 1e3:8.3f} {'':6}  {bounds / whole:4.0%}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--dtype", choices=("auto", "bfloat16", "float32"), default="auto")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each kind of pass")
    parser.add_argument("--passes", nargs="+", default=["512+1", "0+512", "8128+64"], help="context + rows")
    args = parser.parse_args()
    kernels = load_kernels("c", args.dtype, args.threads)
    kinds = [tuple(map(int, kind.split("+"))) for kind in args.passes]
    decoder = load_decoder(args.checkpoint, kernels, max(start + rows for start, rows in kinds) + 128)
    print(f"{kernels.fingerprint()['isa']}, {kernels.dtype}, {kernels.threads} threads, {time.strftime('%Y-%m-%d')}")
    for start, rows in kinds:
        roof = measure(cast(CKernels, kernels).native)
        print(f"\n{rows} rows after {start}; memory {roof.read / 1e9:.1f} GB/s, dots {roof.multiply / 1e9:.0f} GFLOP/s")
        print("\n".join(lines(profile(decoder, start, rows, args.seconds), roof)), flush=True)


if __name__ == "__main__":
    main()
