"""The shift in torch: copies, on every provider."""

import torch
from torch import Tensor

from isotherm.core.constants import BLOCK, block_floor
from isotherm.kernels.batch import Batch
from isotherm.kernels.segments import segment_views
from isotherm.kernels.state import ConvState


def shift(batch: Batch, x: Tensor, state: ConvState) -> Tensor:
    """See isotherm.kernels.api.Kernels.shift."""
    out = torch.empty_like(x)
    for view in segment_views(batch):
        own = x[view.row : view.row + view.end - view.start]
        before = (
            state.history[view.state, 0] if view.start == view.base else state.rows[view.lane, view.start % BLOCK - 1]
        )
        out[view.row] = before
        out[view.row + 1 : view.row + len(own)] = own[:-1]
        for boundary, slot in view.writes:
            state.history[slot, 0] = own[boundary - 1 - view.start]
        since = max(block_floor(view.end), view.start)
        state.rows[view.lane, since % BLOCK : since % BLOCK + view.end - since] = own[since - view.start :]
    return out
