"""Hashes of what a pass computes, and of state by id, for whoever records them."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isotherm.model.state import ModelState
from isotherm.trace.hashing import RowHash
from isotherm.trace.record import Hashes


class PassHashes:
    """A PassWatch that hashes every row it is shown. layers: [L+1][M], the embedding first. logits: by row of the pass."""

    def __init__(self, row_hash: RowHash):
        self._hash = row_hash
        self.layers: list[Hashes] = []
        self.by_place: dict[int, int] = {}

    def rows(self, layer: int, name: str, rows: Tensor) -> None:
        """Layers come in order."""
        self.layers.append(self._hash(bytes_of(rows)))

    def logits(self, places: list[int], logits: Tensor) -> None:
        """Some of the pass's rows."""
        self.by_place.update(zip(places, self._hash(bytes_of(logits)).tolist(), strict=True))


class StateHashes:
    """Hashes of everything kept in a slot or in a block, one a tensor."""

    def __init__(self, state: ModelState, row_hash: RowHash):
        self._hash = row_hash
        self._slots = state.by_slot()
        self._blocks = state.by_block()
        self.slot_names = tuple(self._slots)
        self.block_names = tuple(self._blocks)

    def slots(self, ids: Sequence[int]) -> Hashes:
        """[len(ids), tensors], in the order of `slot_names`."""
        return self._of(self._slots, ids)

    def blocks(self, ids: Sequence[int]) -> Hashes:
        """[len(ids), tensors], in the order of `block_names`."""
        return self._of(self._blocks, ids)

    def _of(self, tensors: dict[str, Tensor], ids: Sequence[int]) -> Hashes:
        if not ids or not tensors:
            return np.zeros((len(ids), len(tensors)), np.uint64)
        index = torch.tensor(ids)
        return np.stack([self._hash(bytes_of(tensor[index])) for tensor in tensors.values()], axis=1)


def bytes_of(rows: Tensor) -> NDArray[np.uint8]:
    """[M, ...] -> [M, bytes of a row]."""
    flat = rows.reshape(rows.shape[0], -1)
    array: NDArray[np.uint8] = flat.contiguous().cpu().view(torch.uint8).numpy()
    return array
