"""What the trace tests share: engines that trace, and one fault at one place."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from isotherm.core.config import CacheConfig, EngineConfig, ModelConfig, SchedulerConfig
from isotherm.core.request import Request
from isotherm.core.sampling import SamplingParams
from isotherm.core.vocabulary import Vocabulary
from isotherm.engine.engine import Engine
from isotherm.trace.folder import claim_folder, trace_files
from isotherm.trace.reader import Trace, read_trace

GREEDY = SamplingParams(temperature=0.0, max_tokens=6, ignore_eos=True)
VOCABULARY = Vocabulary(tuple(b"x" for _ in range(512)), frozenset({511}), (511,))


def tokens(length: int, seed: int = 0) -> tuple[int, ...]:
    """Random token ids."""
    rng = random.Random(seed)
    return tuple(rng.randrange(511) for _ in range(length))


def open_engine(
    checkpoint: Path, folder: Path | None, *, caching: bool = True, budget: int = 2048, **cache: int
) -> Engine:
    """A small engine in float32 on one thread. folder: of its traces."""
    if folder is not None and not folder.exists():
        claim_folder(folder)
    config = EngineConfig(
        ModelConfig(str(checkpoint), None, "float32", 1024, "auto", 1),
        CacheConfig(caching, 32 << 20, **cache),
        SchedulerConfig(4, budget),
        "" if folder is None else str(folder),
    )
    return Engine(config, checkpoint, VOCABULARY)


def drive(engine: Engine, *requests: Request) -> dict[str, list[int]]:
    """Tokens generated, by request."""
    made: dict[str, list[int]] = {}
    for request in requests:
        engine.add(request)
    while engine.has_work:
        for output in engine.step():
            made.setdefault(output.request_id, []).extend(output.tokens)
    return made


def traces(folder: Path) -> list[Trace]:
    """In order of arrival."""
    return [read_trace(path) for path in trace_files(folder)]


def ask(prompt: tuple[int, ...], name: str = "r", **fields: Any) -> Request:
    """A greedy request."""
    return replace(Request(name, prompt, GREEDY), **fields)


class FaultyKernels:
    """Kernels that are right but for one operation at one layer. `break_it(rows, positions)` changes what it is given in place.

    operation: "linear" (the last projection of a layer), "write_kv" (its keys, before they are written), "gated_delta" (the state
    it wrote, by boundary) or "logits" (whatever the layer; of the pass's last rows).
    """

    def __init__(self, true: Any, operation: str, layer: int, break_it: Callable[[Tensor, list[int]], None]):
        self._true, self._operation, self._layer, self._break = true, operation, layer, break_it
        self._at = -1
        self._residuals = 0
        self._positions: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._true, name)

    def _hit(self, operation: str) -> bool:
        return operation == self._operation and self._at == self._layer

    def embed(self, ids: Tensor, table: Any) -> Tensor:
        self._at, self._residuals = -1, 0
        return self._true.embed(ids, table)

    def _enter(self, batch: Any) -> None:
        self._at, self._residuals = self._at + 1, 0
        self._positions = batch.positions.tolist()

    def causal_conv(self, batch: Any, *rest: Any) -> Tensor:
        self._enter(batch)
        return self._true.causal_conv(batch, *rest)

    def write_kv(self, batch: Any, k: Tensor, v: Tensor, store: Any) -> None:
        self._enter(batch)
        if self._hit("write_kv"):
            k = k.clone()
            self._break(k, self._positions)
        self._true.write_kv(batch, k, v, store)

    def gated_delta(self, batch: Any, *rest: Any) -> Tensor:
        out = self._true.gated_delta(batch, *rest)
        if self._hit("gated_delta"):
            slots = batch.write_slots.long()
            written = rest[-1].state[slots]
            self._break(written, batch.write_positions.tolist())
            rest[-1].state[slots] = written
        return out

    def linear(self, x: Tensor, weight: Any, residual: Tensor | None = None) -> Tensor:
        out = self._true.linear(x, weight, residual)
        self._residuals += residual is not None
        if residual is not None and self._residuals == 2 and self._hit("linear"):
            self._break(out, self._positions)
        return out

    def logits(self, x: Tensor, weight: Any) -> Tensor:
        out = self._true.logits(x, weight)
        if self._operation == "logits":
            self._break(out, self._positions)
        return out


def break_engine(engine: Engine, operation: str, layer: int, position: int) -> None:
    """From now on, what `operation` makes for `position` at `layer` is one bit off."""

    def flip(rows: Tensor, positions: list[int]) -> None:
        positions = positions[-len(rows) :] if len(rows) else []
        if position in positions:
            rows.view(torch.int32)[positions.index(position)].view(-1)[0] ^= 1 << 20

    decoder = engine.runner.decoder
    engine.runner.decoder = replace(decoder, kernels=FaultyKernels(decoder.kernels, operation, layer, flip))
