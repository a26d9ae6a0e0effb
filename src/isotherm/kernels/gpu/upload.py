"""Index arrays on their way to the device: laid out in pinned memory, sent in one copy."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isotherm.kernels.batch import Batch
from isotherm.kernels.gpu.batch import DeviceBatch

Ints = NDArray[np.int32]

ALIGNED = 16
"""Every array begins at a multiple of so many numbers: Triton compiles a kernel apart for aligned arguments."""

_BUFFERS = 4


def offsets_of(sizes: Sequence[int]) -> list[int]:
    """Where arrays of these sizes begin, and, last, how much they take together."""
    offsets = [0]
    for size in sizes:
        offsets.append(offsets[-1] + -(-size // ALIGNED) * ALIGNED)
    return offsets


class _Buffer:
    """Pinned memory, and when the device has last read it."""

    def __init__(self) -> None:
        self.memory = torch.empty(0, dtype=torch.int32)
        self.read: torch.cuda.Event | None = None


class Upload:
    """Owns a few pinned buffers, used in turn: one is written again when the copy out of it has ended."""

    def __init__(self, device: torch.device):
        self._device = device
        self._buffers = [_Buffer() for _ in range(_BUFFERS)]
        self._turn = 0

    def space(self, size: int) -> Ints:
        """Room for `size` numbers, to be written and then sent."""
        self._turn = (self._turn + 1) % _BUFFERS
        buffer = self._buffers[self._turn]
        if buffer.read is not None:
            buffer.read.synchronize()
        if buffer.memory.shape[0] < size:
            on_gpu = self._device.type == "cuda"
            buffer.memory = torch.empty(max(2 * size, 1 << 14), dtype=torch.int32, pin_memory=on_gpu)
        return buffer.memory[:size].numpy()

    def send(self, size: int, target: Tensor) -> None:
        """Copies the first `size` numbers of the last space to `target`, int32 on the device."""
        buffer = self._buffers[self._turn]
        target[:size].copy_(buffer.memory[:size], non_blocking=True)
        if self._device.type == "cuda":
            buffer.read = torch.cuda.Event()  # type: ignore[no-untyped-call]
            buffer.read.record()

    def arrays(self, arrays: Sequence[Ints]) -> list[Tensor]:
        """The arrays on the device, each contiguous and aligned."""
        offsets = offsets_of([array.size for array in arrays])
        space = self.space(offsets[-1])
        for array, offset in zip(arrays, offsets, strict=False):
            space[offset : offset + array.size] = array.reshape(-1)
        target = torch.empty(offsets[-1], dtype=torch.int32, device=self._device)
        self.send(offsets[-1], target)
        pairs = zip(arrays, offsets, strict=False)
        return [target[offset : offset + array.size].view(array.shape) for array, offset in pairs]

    def rows(self, rows: Tensor) -> Tensor:
        """Rows of any type, whose sizes are whole numbers of 4 bytes, on the device."""
        (sent,) = self.arrays([rows.view(torch.int32).numpy()])
        return sent.view(rows.dtype)

    def batch(self, host: Batch, tokens: Tensor) -> tuple[DeviceBatch, Tensor]:
        """A batch and its tokens, both on the CPU."""
        values: dict[str, Any] = {f.name: getattr(host, f.name) for f in fields(host)}
        names = [name for name, value in values.items() if isinstance(value, Tensor)]
        *sent, placed = self.arrays([*(values[name].numpy() for name in names), tokens.numpy()])
        return DeviceBatch(**values | dict(zip(names, sent, strict=True)), host=host, tokens=tokens), placed
