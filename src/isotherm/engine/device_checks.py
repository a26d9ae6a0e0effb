"""Self-checks of the GPU kernels: recorded passes, and tiles."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, cast

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK, ZERO_SLOT, blocks_for
from isotherm.core.plan import PassPlan, Segment, StateWrite
from isotherm.engine.check import Check
from isotherm.kernels.api import Linear
from isotherm.model.decoder import Decoder
from isotherm.runner.capacity import Capacity
from isotherm.runner.graphs import Graphs
from isotherm.runner.runner import Runner

ROWS = (1, 16, 17, 64, 65, 256, 700)


def check_device(decoder: Decoder, tokens: list[int], whole: Tensor) -> Iterator[Check]:
    """Of a decoder on a GPU; nothing on the CPU. whole: [T, vocabulary] the logits of `tokens` in one pass."""
    if not Graphs.can_play(decoder.kernels):
        return
    different = int((_recorded(decoder, tokens) != whole).any(dim=1).sum())
    yield Check("recorded passes = one pass", different == 0, f"{different} of {len(tokens)} rows of logits differ")
    shapes, wrong = _tiles(decoder)
    detail = f"{wrong or 'no'} products differ, {shapes} shapes at {len(ROWS)} row counts"
    yield Check("tiles of this card = tiles of any", not wrong, detail)


@torch.inference_mode()
def _recorded(decoder: Decoder, tokens: list[int]) -> Tensor:
    """Logits of each token, decoded one by one in recorded passes."""
    blocks = blocks_for(len(tokens)) + 1
    graphs, rows = Runner(decoder, Capacity(blocks, blocks, 1, 0, 0)).graphs, []
    assert graphs is not None
    for at, token in enumerate(tokens):
        writes = (StateWrite(at + 1, (at + 1) // BLOCK),) if (at + 1) % BLOCK == 0 else ()
        state = at // BLOCK if at >= BLOCK else ZERO_SLOT
        played = graphs.play(PassPlan((Segment(0, 0, at, (token,), tuple(range(1, at // BLOCK + 2)), state, writes),)))
        assert played is not None
        rows.append(played.logits[0].clone())
    return torch.stack(rows)


def _tiles(decoder: Decoder) -> tuple[int, int]:
    """How many shapes of weights there are, and how many products have other bits by the tiles that this card has for them."""
    from isotherm.kernels.linear import triton_form
    from isotherm.kernels.linear.tiles import TileTable
    from isotherm.kernels.triton_provider import TritonKernels

    kernels, any_card = cast(TritonKernels, decoder.kernels), TileTable({}, {})
    by_shape = {(weight.n, weight.k): weight for layer in decoder.layers for weight in _linears(layer)}
    wrong = 0
    for weight in by_shape.values():
        x = torch.randn(max(ROWS), weight.k, device=kernels.device).to(kernels.dtype)
        for rows in ROWS:
            mine, other = (triton_form.linear(table, x[:rows], weight) for table in (kernels.table, any_card))
            wrong += not torch.equal(mine, other)
    return len(by_shape), wrong


def _linears(part: Any) -> Iterator[Linear]:
    if isinstance(part, Linear):
        yield part
    elif is_dataclass(part):
        for field in fields(part):
            yield from _linears(getattr(part, field.name))
