"""Hashed n-grams of a pass: integers, on the CPU whatever the provider, in as many calls for one sequence as for many."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isotherm.core.constants import BLOCK
from isotherm.kernels.batch import Batch
from isotherm.kernels.convolution.torch_form import conv_state
from isotherm.kernels.state import ConvShape, ConvState

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class NgramHash:
    """multipliers: one a token, N of them. sizes, offsets: one a head, orders 2..N ascending. end: the token that resets."""

    multipliers: tuple[int, ...]
    sizes: tuple[int, ...]
    offsets: tuple[int, ...]
    end: int

    @property
    def heads(self) -> int:
        """Heads of one order."""
        return len(self.sizes) // (len(self.multipliers) - 1)


def ngram_state(order: int, slots: int, lanes: int) -> ConvState:
    """Storage for the tokens before; slot 0 is zeros, an empty history."""
    return conv_state(torch.float32, ConvShape(1, order), slots, lanes)


def ngrams(batch: Batch, tokens: Tensor, hashing: NgramHash, state: ConvState) -> Tensor:
    """See isotherm.kernels.stream_api.StreamKernels.ngrams. All of it lies on the CPU."""
    order, known = len(hashing.multipliers), _Known.of(batch, tokens, state)
    owner = np.repeat(np.arange(batch.segments), np.diff(known.row_offsets))
    positions = batch.positions.numpy().astype(np.int64)
    before = known.at(owner, positions - np.arange(order)[:, None])
    if len(batch.write_slots):
        of_write = np.repeat(np.arange(batch.segments), np.diff(batch.write_offsets.numpy()))
        boundaries = batch.write_positions.numpy().astype(np.int64)
        kept = known.at(of_write[:, None], boundaries[:, None] - order + 1 + np.arange(order - 1)) + 1
        known.history[batch.write_slots.numpy()] = kept
    ends = (known.starts + np.diff(known.row_offsets))[owner]
    live = positions >= ends // BLOCK * BLOCK
    known.rows[known.lanes[owner[live]], positions[live] % BLOCK] = before[0, live] + 1
    return torch.from_numpy(_places(before, hashing))


@dataclass(frozen=True, slots=True)
class _Known:
    """The tokens that a pass brings and those before it, each plus one, as they lie. history, rows: those of the state."""

    tokens: Ints
    history: Floats
    rows: Floats
    starts: Ints
    row_offsets: Ints
    lanes: Ints
    states: Ints

    @staticmethod
    def of(batch: Batch, tokens: Tensor, state: ConvState) -> "_Known":
        numbers = (tokens, batch.starts, batch.row_offsets, batch.lanes, batch.states)
        ids, starts, row_offsets, lanes, states = (x.numpy().astype(np.int64) for x in numbers)
        return _Known(
            ids, state.history[..., 0].numpy(), state.rows[..., 0].numpy(), starts, row_offsets, lanes, states
        )

    def at(self, owner: Ints, positions: Ints) -> Ints:
        """The tokens of segments `owner` at these positions, -1 before the start. What is not read may be anything."""
        starts = self.starts[owner]
        bases = starts // BLOCK * BLOCK
        own, in_lane = positions >= starts, positions >= bases
        given = self.tokens[np.where(own, self.row_offsets[owner] + positions - starts, 0)] if len(self.tokens) else 0
        lane = self.rows[self.lanes[owner], np.where(in_lane, positions % BLOCK, 0)]
        length = self.history.shape[1]
        slot = self.history[self.states[owner], np.where(in_lane, 0, positions - bases + length)]
        return np.where(own, given, np.where(own, 0.0, np.where(in_lane, lane, slot)).astype(np.int64) - 1)


def _places(before: Ints, hashing: NgramHash) -> Ints:
    """before[k]: the token k places back, -1 before the start. [n, heads of every order]."""
    mixed = before[0] * hashing.multipliers[0]
    ended = np.zeros(mixed.shape, dtype=bool)
    sizes, offsets = np.array(hashing.sizes), np.array(hashing.offsets)
    places = []
    for k in range(1, len(before)):
        ended |= (before[k] == hashing.end) | (before[k] < 0)
        mixed = mixed ^ (np.where(ended, hashing.end, before[k]) * hashing.multipliers[k])
        heads = slice((k - 1) * hashing.heads, k * hashing.heads)
        places.append(mixed[:, None] % sizes[heads] + offsets[heads])
    return np.concatenate(places, axis=1)
