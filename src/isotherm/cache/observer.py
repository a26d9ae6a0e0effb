"""What the owner of the memory behind the ids may want to hear."""

from typing import Literal, Protocol

Kind = Literal["block", "slot", "host block", "host slot"]


class Observer(Protocol):
    """Told of events as they happen. Tests compare duplicates byte for byte, and poison what is freed."""

    def duplicate(self, kind: Kind, kept: int, duplicate: int) -> None:
        """Two ids hold the same thing; `duplicate` is about to be released."""
        ...

    def freed(self, kind: Kind, identity: int) -> None:
        """Nothing refers to the id any more."""
        ...
