"""What a caller of the runner may look at while a pass runs."""

from typing import Protocol

from torch import Tensor


class PassWatch(Protocol):
    """Shown the rows of one pass as they are made; it must not change them."""

    def rows(self, layer: int, name: str, rows: Tensor) -> None:
        """rows [M, hidden] after `layer`; layer -1 is the embedding."""
        ...

    def logits(self, places: list[int], logits: Tensor) -> None:
        """logits [R, vocabulary] float32 of the pass's rows `places`."""
        ...
