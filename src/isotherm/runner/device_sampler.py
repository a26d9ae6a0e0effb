"""The sampler on a device: all rows of a pass are chosen there, and the host waits once."""

from collections.abc import Sequence
from typing import cast

from torch import Tensor

from isotherm.core.plan import RowResult, SampleRow, ScoreRow
from isotherm.kernels.api import Kernels
from isotherm.runner.graphs import DeviceKernels
from isotherm.runner.sampler import Sampler, is_adjusted


class DeviceSampler(Sampler):
    """Rows that are greedy and not adjusted take what the pass has found; others go row by row."""

    def __init__(self, kernels: Kernels):
        super().__init__(kernels)
        self._device_kernels = cast(DeviceKernels, kernels)

    def results(
        self,
        logits: Tensor,
        rows: Sequence[SampleRow | ScoreRow],
        positions: Sequence[int],
        chosen: Tensor | None = None,
    ) -> list[RowResult]:
        """See Sampler.results. chosen: of the same rows, as `greedy` gives it, if it is known."""
        found = self._greedy(logits, chosen)
        finite = [token >= 0 for token in found]
        tokens = [
            self._chosen(logits, index, row, positions[index], found[index]) if finite[index] else 0
            for index, row in enumerate(rows)
        ]
        return self._told(logits, rows, tokens, finite)

    def choices(self, logits: Tensor, rows: Sequence[SampleRow], positions: Sequence[int]) -> list[int]:
        """See Sampler.choices."""
        found = self._greedy(logits, None)
        return [
            self._chosen(logits, index, row, positions[index], max(found[index], 0)) for index, row in enumerate(rows)
        ]

    def _greedy(self, logits: Tensor, chosen: Tensor | None) -> list[int]:
        found: list[int] = (self._device_kernels.greedy(logits) if chosen is None else chosen).tolist()
        return found

    def _chosen(self, logits: Tensor, index: int, row: SampleRow | ScoreRow, position: int, greedy: int) -> int:
        if isinstance(row, SampleRow) and row.params.temperature == 0 and not is_adjusted(row):
            return greedy
        return self._token(logits[index], row, position)
