"""The host tier's memory: whole blocks and slots, as bytes. Copies keep their order with passes: both go to the same queue."""

import weakref

import torch
from torch import Tensor

from isotherm.core.errors import ConfigError
from isotherm.core.plan import HostCopies
from isotherm.model.state import ModelState

AT_ONCE = 64 << 20
"""Bytes that are gathered on the device at a time, since a block's tensors lie in as many places."""

Pairs = tuple[tuple[int, int], ...]


class HostPool:
    """Rows for `blocks` blocks and `slots` slots of the state, ids from 1. A block or slot is copied with all its tensors."""

    def __init__(self, state: ModelState, blocks: int, slots: int):
        self.blocks = Shelf(list(state.by_block().values()), blocks)
        self.slots = Shelf(list(state.by_slot().values()), slots)

    def take(self, copies: HostCopies) -> None:
        """Those out of the device's memory; to be done before `give`."""
        self.blocks.store(copies.blocks_out)
        self.slots.store(copies.slots_out)

    def give(self, copies: HostCopies) -> None:
        """Those back into it."""
        self.blocks.fetch(copies.blocks_in)
        self.slots.fetch(copies.slots_in)


class Shelf:
    """One row an id, in which what all `tensors` keep for one of theirs lies end to end.

    tensors: [ids, ...] contiguous, on one device, that of the first, but for some that may be on the CPU (tokens that n-grams
    read): to give these back, the device is waited for. Where it is a GPU, rows are pinned, and a copy is queued behind whatever
    was started before it; whoever reads `rows` without that queue must wait for the device.
    """

    def __init__(self, tensors: list[Tensor], rows: int):
        widths = [tensor[0].nbytes for tensor in tensors]
        unit = torch.int32 if all(width % 4 == 0 for width in widths) else torch.uint8
        self._tensors = [tensor.view(tensor.shape[0], -1).view(unit) for tensor in tensors]
        self._widths = [tensor.shape[1] for tensor in self._tensors]
        self._at_once = max(1, AT_ONCE // max(1, sum(widths)))
        self._device = tensors[0].device if tensors else torch.device("cpu")
        self._devices = {tensor.device for tensor in tensors}
        self.rows = torch.empty(rows, sum(self._widths), dtype=unit)
        if self._device.type == "cuda" and self.rows.nbytes:
            _pin(self.rows, self)

    def store(self, pairs: Pairs) -> None:
        """(id of the device, id of the host) each."""
        for some in self._pieces(pairs):
            ids = self._ids([source for source, _ in some])
            gathered = torch.cat([tensor[ids[tensor.device]].to(self._device) for tensor in self._tensors], dim=1)
            for first, row, count in _runs([target - 1 for _, target in some]):
                self.rows[row : row + count].copy_(gathered[first : first + count], non_blocking=True)

    def fetch(self, pairs: Pairs) -> None:
        """(id of the host, id of the device) each."""
        for some in self._pieces(pairs):
            gathered = self.rows.new_empty(len(some), self.rows.shape[1], device=self._device)
            for first, row, count in _runs([source - 1 for source, _ in some]):
                gathered[first : first + count].copy_(self.rows[row : row + count], non_blocking=True)
            ids = self._ids([target for _, target in some])
            for tensor, part in zip(self._tensors, torch.split(gathered, self._widths, dim=1), strict=True):
                tensor[ids[tensor.device]] = part.to(tensor.device)

    def parts(self, identity: int) -> tuple[Tensor, ...]:
        """What is kept of each of the tensors, as bytes."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return tuple(part.view(torch.uint8) for part in torch.split(self.rows[identity - 1], self._widths))

    def poison(self, identity: int) -> None:
        """Fill a freed row with NaN, in every float format, so that a test sees any read of it."""
        for part in self.parts(identity):
            part.fill_(0xFF)

    def _ids(self, ids: list[int]) -> dict[torch.device, Tensor]:
        """Where the tensors are."""
        return {device: torch.tensor(ids, device=device) for device in self._devices}

    def _pieces(self, pairs: Pairs) -> list[Pairs]:
        return [pairs[start : start + self._at_once] for start in range(0, len(pairs), self._at_once)]


def _runs(rows: list[int]) -> list[tuple[int, int, int]]:
    """(place, first row, count) of each run of rows that lie one after the other: one copy each."""
    runs: list[tuple[int, int, int]] = []
    for place, row in enumerate(rows):
        if runs and row == runs[-1][1] + runs[-1][2]:
            first, start, count = runs[-1]
            runs[-1] = (first, start, count + 1)
        else:
            runs.append((place, row, 1))
    return runs


def _pin(memory: Tensor, owner: Shelf) -> None:
    """Lock pages for copies that the device makes by itself, while `owner` is there. torch's own pinned memory comes in powers
    of two."""
    runtime = torch.cuda.cudart()  # type: ignore[no-untyped-call]
    address, size = memory.data_ptr(), memory.nbytes
    if int(runtime.cudaHostRegister(address, size, 0)):
        raise ConfigError("kv_offloading_size", f"{size} bytes of memory could not be pinned for the GPU")
    weakref.finalize(owner, _unpin, memory).atexit = False


def _unpin(memory: Tensor) -> None:
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaHostUnregister(memory.data_ptr())  # type: ignore[no-untyped-call]
