"""What a parsed piece of output is, and the place where a parser collects one."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A piece of the response's tool call number `index`: first its id and name, then fragments of its arguments.

    id and name are set on a call's first delta, whose arguments are empty, and None on the others.
    """

    index: int
    id: str | None
    name: str | None
    arguments: str


@dataclass(frozen=True, slots=True)
class Delta:
    """What some text adds to a response; the parts are in the order of the text, each within itself."""

    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCallDelta, ...] = ()


class Sink:
    """Collects what a parser finds until it is taken; owned by one OutputParser.

    new_id: gives a new call its id, unique within the response.
    """

    def __init__(self, new_id: Callable[[], str]):
        self._new_id = new_id
        self._calls = 0
        self._clear()

    def _clear(self) -> None:
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._deltas: list[ToolCallDelta] = []
        self._arguments: list[str] = []

    def content(self, text: str) -> None:
        """Adds to the answer's text."""
        self._content.append(text)

    def reasoning(self, text: str) -> None:
        """Adds to the reasoning."""
        self._reasoning.append(text)

    def call(self, name: str) -> None:
        """Begins the next tool call."""
        self._join_arguments()
        self._deltas.append(ToolCallDelta(self._calls, self._new_id(), name, ""))
        self._calls += 1

    def arguments(self, text: str) -> None:
        """Adds JSON text to the arguments of the call that began last."""
        self._arguments.append(text)

    def take(self) -> Delta:
        """What was collected since it was last taken."""
        self._join_arguments()
        delta = Delta("".join(self._content), "".join(self._reasoning), tuple(self._deltas))
        self._clear()
        return delta

    def _join_arguments(self) -> None:
        if text := "".join(self._arguments):
            self._deltas.append(ToolCallDelta(self._calls - 1, None, None, text))
        self._arguments = []
