"""A batch's arrays as the C kernels read them (batch.h)."""

import ctypes

import torch

from isotherm.kernels.batch import Batch
from isotherm.kernels.native.arguments import vector

_ARRAYS = (
    "row_offsets",
    "starts",
    "lanes",
    "states",
    "write_offsets",
    "write_positions",
    "write_slots",
    "block_offsets",
    "blocks",
)


class BatchPointers(ctypes.Structure):
    """batch_t. Holds addresses only: the Batch that it was made from must outlive it."""

    _fields_ = (*((name, ctypes.c_void_p) for name in _ARRAYS), ("segments", ctypes.c_int64))

    @classmethod
    def of(cls, batch: Batch) -> "BatchPointers":
        """The addresses of `batch`, whose arrays must be contiguous int32."""
        pointers = cls()
        pointers.point_to(batch)
        return pointers

    def point_to(self, batch: Batch) -> None:
        """Be the addresses of another batch."""
        self.__init__(*(vector(getattr(batch, name), torch.int32, name) for name in _ARRAYS), batch.segments)  # type: ignore[misc]

    @property
    def address(self) -> int:
        """Where this structure lies."""
        return ctypes.addressof(self)
