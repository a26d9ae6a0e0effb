"""Which arithmetic and which layout: exact, or native with its switches."""

from dataclasses import dataclass, fields
from typing import Literal, get_args

from isotherm.core.constants import BLOCK
from isotherm.core.errors import ConfigError

Numerics = Literal["exact", "native"]
Restore = Literal["deepest", "below", "never"]
AboveSnapshot = Literal["recompute", "reuse"]
ReplayKernel = Literal["chunked", "sequential"]

ANCHOR_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class NativeConfig:
    """One switch a mechanism of `numerics=native`; the defaults are a plain modern engine. docs/native.md explains each.

    tail_split: a prompt's last pass begins at floor((N-1)/16)*16-16.
    restore: from the deepest snapshot of the match, from the deepest one below the match, or never.
    kv: what of the match lies above the snapshot is written again, or used as it is and not written.
    match_unit: tokens; 64 matches whole blocks, 1 also the first tokens of the next block, which is copied (with `kv` "reuse").
    replay: which kernel runs the delta rule on the rows between snapshot and match.
    drafter_anchor: the model's rows of a prefix are kept with its snapshot, for the drafter; one without them is not restored.
    drafter_anchor_bytes: how much they may take; those used longest ago go first.
    grid: prefill passes end, and snapshots are, at multiples of it only; 0 for none. fine_grid: the same in what follows the
        last multiple of `grid` below the prompt's end.

    Raises ConfigError naming the flag when a value cannot be honoured.
    """

    tail_split: bool = False
    restore: Restore = "deepest"
    kv: AboveSnapshot = "recompute"
    match_unit: int = BLOCK
    replay: ReplayKernel = "chunked"
    drafter_anchor: bool = False
    drafter_anchor_bytes: int = ANCHOR_BYTES
    grid: int = 0
    fine_grid: int = 0

    def __post_init__(self) -> None:
        for name, kind in (("restore", Restore), ("kv", AboveSnapshot), ("replay", ReplayKernel)):
            if getattr(self, name) not in get_args(kind):
                raise _error(name, f"must be one of {', '.join(get_args(kind))}, got {getattr(self, name)!r}")
        if self.match_unit not in (1, BLOCK):
            raise _error("match_unit", f"must be 1 or {BLOCK}, got {self.match_unit}")
        if self.match_unit != BLOCK and self.kv != "reuse":
            raise _error(
                "match_unit",
                "a part of a block can be matched only where keys and values are reused: --native-kv reuse",
            )
        if self.drafter_anchor_bytes != ANCHOR_BYTES and not self.drafter_anchor:
            raise _error("drafter_anchor_bytes", "is a limit of --native-drafter-anchor")
        if self.drafter_anchor_bytes < 1:
            raise _error("drafter_anchor_bytes", f"must be at least 1, got {self.drafter_anchor_bytes}")
        self._check_grid()

    def _check_grid(self) -> None:
        for name in ("grid", "fine_grid"):
            if getattr(self, name) < 0 or getattr(self, name) % BLOCK:
                raise _error(name, f"must be a multiple of {BLOCK}, got {getattr(self, name)}")
        if self.fine_grid and (not self.grid or self.grid % self.fine_grid):
            raise _error("fine_grid", f"must divide --native-grid, got {self.fine_grid} and {self.grid}")
        if self.grid and self.tail_split:
            raise _error("tail_split", "a grid and a split tail exclude each other")

    def check_unused(self) -> None:
        """Raises ConfigError naming the first switch that is not at its default: exact mode has none of them."""
        plain = NativeConfig()
        for item in fields(self):
            if getattr(self, item.name) != getattr(plain, item.name):
                raise _error(item.name, "is a switch of --numerics native; exact mode has no such choice")


def _error(name: str, message: str) -> ConfigError:
    return ConfigError(f"native_{name}", message)
