"""Hashed n-grams in torch: integers, on every provider."""

from dataclasses import dataclass

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK, block_floor
from isotherm.kernels.batch import Batch
from isotherm.kernels.convolution.torch_form import conv_state
from isotherm.kernels.segments import SegmentView, segment_views
from isotherm.kernels.state import ConvShape, ConvState


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
    """See isotherm.kernels.stream_api.StreamKernels.ngrams."""
    out = torch.empty(batch.rows, len(hashing.sizes), dtype=torch.int64)
    for view in segment_views(batch):
        rows = slice(view.row, view.row + view.end - view.start)
        out[rows] = _segment(view, tokens[rows], hashing, state)
    return out


def _segment(view: SegmentView, tokens: Tensor, hashing: NgramHash, state: ConvState) -> Tensor:
    order, count = len(hashing.multipliers), view.end - view.start
    kept = state.rows[view.lane, : view.start - view.base, 0]
    known = torch.cat(
        [state.history[view.state, :, 0], kept, tokens.float() + 1]
    )  # place i is position base - (N-1) + i
    for boundary, slot in view.writes:
        state.history[slot, :, 0] = known[boundary - view.base : boundary - view.base + order - 1]
    since = max(block_floor(view.end), view.start)
    state.rows[view.lane, since % BLOCK : since % BLOCK + view.end - since, 0] = known[len(known) - view.end + since :]
    first = view.start - view.base + order - 1
    before = [known[first - k : first - k + count].long() - 1 for k in range(order)]
    return _places(before, hashing)


def _places(before: list[Tensor], hashing: NgramHash) -> Tensor:
    """before[k]: the token k places back, -1 before the start. [n, heads of every order]."""
    mixed = before[0] * hashing.multipliers[0]
    ended = torch.zeros_like(mixed, dtype=torch.bool)
    sizes, offsets = torch.tensor(hashing.sizes), torch.tensor(hashing.offsets)
    places = []
    for k in range(1, len(before)):
        ended = ended | (before[k] == hashing.end) | (before[k] < 0)
        mixed = mixed ^ (torch.where(ended, hashing.end, before[k]) * hashing.multipliers[k])
        heads = slice((k - 1) * hashing.heads, k * hashing.heads)
        places.append(torch.remainder(mixed[:, None], sizes[heads]) + offsets[heads])
    return torch.cat(places, dim=1)
