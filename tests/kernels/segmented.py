"""Plays sequences through an operation in passes, with lanes, slots and blocks as the runner keeps them. Not a test."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK, block_floor, blocks_for
from isotherm.kernels.api import Kernels
from isotherm.kernels.batch import Batch
from isotherm.kernels.load import load_kernels
from isotherm.kernels.native.isa import supported

Pass = Sequence[tuple[int, int]]
"""(sequence, tokens) of each segment, in the batch's order."""

PROVIDERS = [f"c-{isa}-{dtype}" for isa in supported() for dtype in ("bfloat16", "float32")]
PROVIDERS = [name for name in PROVIDERS if name != "c-amx-float32"]
PROVIDERS += ["torch-any-bfloat16", "torch-any-float32"]
BEST = [f"c-{supported()[0]}-bfloat16", f"c-{next(isa for isa in supported() if isa != 'amx')}-float32"]
THREADS = (1, 2, 3, 8)
LENGTHS = (300, 1, 63, 64, 65, 127, 128, 129, 200)


def lengths(name: str) -> tuple[int, ...]:
    """Sequence lengths for a provider: the torch form takes a row a call, so it gets the fewest that still cross boundaries."""
    return (130, 1, 64, 65) if name.startswith("torch") else LENGTHS


def provider(name: str, threads: int = 1) -> Kernels:
    """One of PROVIDERS."""
    kind, isa, dtype = name.split("-")
    if kind == "torch":
        return load_kernels("torch", dtype, threads)  # type: ignore[arg-type]
    return load_kernels("c", dtype, threads, isa=isa)  # type: ignore[arg-type]


@dataclass
class Ledger:
    """Where each sequence stands, and which lane, slot and blocks are its own. Ids are shuffled, so none is right by luck."""

    lengths: Sequence[int]
    seed: int = 0
    positions: list[int] = field(init=False)
    states: list[int] = field(init=False)
    kept: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        chance = random.Random(self.seed)
        self.positions, self.states = [0] * len(self.lengths), [0] * len(self.lengths)
        boundaries = sum(length // BLOCK for length in self.lengths)
        self.slots, self.lane_count = 1 + boundaries, 2 * len(self.lengths)
        self.free = chance.sample(range(1, self.slots), boundaries)
        self.lanes = chance.sample(range(self.lane_count), len(self.lengths))
        self.block_count = 1 + sum(map(blocks_for, self.lengths))
        ids = chance.sample(range(1, self.block_count), self.block_count - 1)
        self.blocks = [[ids.pop() for _ in range(blocks_for(length))] for length in self.lengths]
        self.chance = chance

    def batch(self, step: Pass) -> Batch:
        """The batch of one pass; the ledger moves on as if it had completed. Keeps the last boundary, and others by chance."""
        starts, writes, tables = [], [], []
        rows, lanes, states = [0], [], []
        positions: list[int] = []
        for sequence, tokens in step:
            start, end = self.positions[sequence], self.positions[sequence] + tokens
            starts.append(start)
            lanes.append(self.lanes[sequence])
            states.append(self.states[sequence])
            rows.append(rows[-1] + tokens)
            positions.extend(range(start, end))
            tables.append(self.blocks[sequence][: blocks_for(end)])
            writes.append(self._writes(sequence, start, end))
            self.positions[sequence] = end
        flat = [pair for group in writes for pair in group]
        return Batch(
            positions=_ints(positions),
            row_offsets=_ints(rows),
            starts=_ints(starts),
            lanes=_ints(lanes),
            states=_ints(states),
            write_offsets=_offsets(writes),
            write_positions=_ints(position for position, _ in flat),
            write_slots=_ints(slot for _, slot in flat),
            block_offsets=_offsets(tables),
            blocks=_ints(block for table in tables for block in table),
        )

    def _writes(self, sequence: int, start: int, end: int) -> list[tuple[int, int]]:
        crossed = range(block_floor(start) + BLOCK, end + 1, BLOCK)
        kept = [b for b in crossed if b == crossed[-1] or self.chance.random() < 0.5]
        pairs = [(boundary, self.free.pop()) for boundary in kept]
        for boundary, slot in pairs:
            self.kept[sequence, boundary] = slot
            self.states[sequence] = slot
        return pairs


def _ints(values: Iterable[int]) -> Tensor:
    return torch.tensor(list(values), dtype=torch.int32)


def _offsets(groups: Sequence[Sequence[object]]) -> Tensor:
    sums = [0]
    for group in groups:
        sums.append(sums[-1] + len(group))
    return _ints(sums)


def poison(*tensors: Tensor, keep_first: bool = False) -> None:
    """NaN everywhere; slot 0 stays where `keep_first`."""
    for tensor in tensors:
        tensor[int(keep_first) :] = torch.nan


def play(
    inputs: Sequence[Tensor], passes: Sequence[Pass], ledger: Ledger, call: Callable[[Batch, Tensor], Tensor]
) -> list[Tensor]:
    """Each sequence's outputs [T, ...]; call(batch, rows) gets the rows' inputs in the batch's order."""
    outputs: list[list[Tensor]] = [[] for _ in inputs]
    for step in passes:
        starts = list(ledger.positions)
        rows = torch.cat([inputs[s][starts[s] : starts[s] + n] for s, n in step])
        result = call(ledger.batch(step), rows)
        for (sequence, _), part in zip(step, result.split([n for _, n in step]), strict=True):
            outputs[sequence].append(part)
    return [torch.cat(parts) for parts in outputs]


# ways to cut


def whole(lengths: Sequence[int]) -> list[Pass]:
    """Each sequence alone, in one segment."""
    return [[(s, n)] for s, n in enumerate(lengths)]


def one_by_one(lengths: Sequence[int]) -> list[Pass]:
    """Each sequence alone, one row a pass."""
    return [[(s, 1)] for s, n in enumerate(lengths) for _ in range(n)]


def halves(lengths: Sequence[int], cut: int) -> list[Pass]:
    """Each sequence alone, in two segments."""
    return [[(s, part)] for s, n in enumerate(lengths) for part in (cut, n - cut) if part > 0]


def batched(lengths: Sequence[int], seed: int) -> list[Pass]:
    """Random segments of several sequences a pass, in random order; one sequence may finish long before another."""
    chance = random.Random(seed)
    left, passes = list(lengths), []
    while any(left):
        live = [s for s, n in enumerate(left) if n]
        step = []
        for s in chance.sample(live, chance.randint(1, len(live))):
            n = min(left[s], chance.choice([1, 1, 2, 5, 16, 63, 64, 65, chance.randint(1, 150)]))
            left[s] -= n
            step.append((s, n))
        passes.append(step)
    return passes


def bits(x: Tensor) -> Tensor:
    """The tensor as integers: -0 is not 0, and a NaN equals itself."""
    return x.contiguous().view({2: torch.int16, 4: torch.int32}[x.element_size()])


def equal(a: Tensor, b: Tensor) -> bool:
    """The same shape and the same bits."""
    return torch.equal(bits(a), bits(b))


def differing(a: Tensor, b: Tensor) -> int:
    """How many rows differ in any bit."""
    return int((bits(a) != bits(b)).reshape(a.shape[0], -1).any(1).sum())
