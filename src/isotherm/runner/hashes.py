"""Hashes of what a pass computes, and of state by id, for whoever records them."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isotherm.model.state import ModelState
from isotherm.trace.hashing import RowHash
from isotherm.trace.record import Hashes

GATHERED = 1 << 20
"""Rows are copied, and hashed in one call, while they are fewer bytes than this: a call costs as much as some thousand rows."""


class PassHashes:
    """A PassWatch that hashes every row it is shown. by_place: hashes of logits, by row of the pass."""

    def __init__(self, row_hash: RowHash):
        self._hash = row_hash
        self._hashed: list[Hashes] = []
        self._copies: list[NDArray[np.uint8]] = []
        self.by_place: dict[int, int] = {}

    def rows(self, layer: int, name: str, rows: Tensor) -> None:
        """Layers come in order."""
        self._copies.append(bytes_of(rows).copy())
        if len(self._copies) * rows.nbytes >= GATHERED:
            self._hash_copies()

    def layers(self) -> Hashes:
        """[L+1, M] of what was shown so far, the embedding first."""
        self._hash_copies()
        return np.concatenate(self._hashed)

    def _hash_copies(self) -> None:
        if self._copies:
            layers, rows = len(self._copies), len(self._copies[0])
            self._hashed.append(self._hash(np.concatenate(self._copies)).reshape(layers, rows))
            self._copies.clear()

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
        return np.stack([self._hash(_chosen(tensor, list(ids))) for tensor in tensors.values()], axis=1)


def _chosen(tensor: Tensor, ids: list[int]) -> NDArray[np.uint8]:
    return bytes_of(tensor[ids]) if tensor.is_cuda else bytes_of(tensor)[ids]


def bytes_of(rows: Tensor) -> NDArray[np.uint8]:
    """[M, ...] contiguous -> [M, bytes of a row], the same memory if that is the CPU's.

    numpy copies and adds in the calling thread; torch would wake threads that then spin beside the kernels'.
    """
    array: NDArray[np.uint8] = rows.view(rows.shape[0], -1).view(torch.uint8).cpu().numpy()
    return array
