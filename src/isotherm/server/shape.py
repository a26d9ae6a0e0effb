"""The seam between what the engine says and how an endpoint writes it."""

from typing import Any, Protocol

from isotherm.core.request import Output
from isotherm.server.usage import Usage


class Whole(Protocol):
    """Gathers a call's outputs into one response."""

    def read(self, index: int, output: Output) -> None:
        """An output of choice `index`."""
        ...

    def body(self, usage: Usage) -> dict[str, Any]:
        """The response, once every choice has ended."""
        ...


class Chunks(Protocol):
    """Writes a call's outputs as the chunks of a stream."""

    def read(self, index: int, output: Output) -> list[dict[str, Any]]:
        """Chunks that an output of choice `index` makes; none while all of its text is held back."""
        ...

    def head(self) -> dict[str, Any]:
        """The fields that every chunk has, with no choices."""
        ...
