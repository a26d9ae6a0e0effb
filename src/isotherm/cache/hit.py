"""What a lookup finds, and where a sequence's published blocks end."""

from dataclasses import dataclass
from typing import Literal

from isotherm.cache.tree import Namespace, Node
from isotherm.core.constants import BLOCK, NULL_BLOCK, ZERO_SLOT
from isotherm.core.plan import Replay

DeclineReason = Literal[
    "disabled", "opted_out", "prompt_logprobs", "too_short", "no_match", "no_snapshot", "not_restored", "no_anchor"
]


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """The boundary to which a sequence's blocks are published. node: the tree's node there, None at position 0.

    It is good for as long as the sequence holds the blocks before it.
    """

    namespace: Namespace
    tokens: int = 0
    node: Node | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Hit:
    """The reusable part of a prompt, as one record: `tokens` of it, in `blocks`, with their state in `slot`, or in `host`.

    matched: tokens whose blocks the tree held, usable or not. reason: why `tokens` is 0, else None.
    place: the boundary at the end of `blocks`, from where publication goes on.
    host: where the hit goes on in the host tier, else None: that tier's own hit, deeper than `place`. Its snapshot, and those of
        its blocks that come after `blocks`, are brought in before the pass that reads them.
    replay, partial: None and NULL_BLOCK in exact mode. Tokens that are computed again though `blocks` may hold them already, and
        a block that is copied to begin the one after `blocks`.
    """

    place: Place
    blocks: tuple[int, ...] = ()
    slot: int = ZERO_SLOT
    matched: int = 0
    reason: DeclineReason | None = None
    replay: Replay | None = None
    partial: int = NULL_BLOCK
    host: "Hit | None" = None

    @classmethod
    def declined(cls, namespace: Namespace, reason: DeclineReason, matched: int = 0) -> "Hit":
        """A hit of no tokens."""
        return cls(Place(namespace), matched=matched, reason=reason)

    @property
    def tokens(self) -> int:
        """Prompt tokens that need not be computed."""
        return self.place.tokens if self.host is None else self.host.tokens

    @property
    def junction(self) -> int:
        """Where this prompt parts from what the tree holds, when that is deeper than the hit; else 0."""
        return self.matched if self.matched > self.tokens else 0

    @property
    def is_current(self) -> bool:
        """Whether the tree still holds what was found; asked before pinning, since a lookup pins nothing."""
        node = self.place.node
        if node is None:
            return True
        return node.block == self.blocks[node.end // BLOCK - 1] and (self.host is not None or node.slot == self.slot)

    @property
    def pinned(self) -> tuple[int, ...]:
        """Every block to be held."""
        return self.blocks if self.partial == NULL_BLOCK else (*self.blocks, self.partial)


@dataclass(frozen=True, slots=True)
class Published:
    """What the publisher holds afterwards: the copies that it goes on with, in the order given, and the place to go on from.

    shadowed: the tree's own copies, held too where the publisher goes on with others; none in exact mode.
    """

    place: Place
    blocks: tuple[int, ...]
    slots: tuple[int, ...]
    shadowed: tuple[int, ...] = ()
