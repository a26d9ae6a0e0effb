"""A pass as index arrays: which rows belong to which segment, and where each segment's state lives."""

from dataclasses import dataclass

from torch import Tensor

from isotherm.core.plan import Replay


@dataclass(frozen=True, slots=True)
class Batch:
    """S segments laid one after the other in M rows. All arrays are contiguous int32 on the CPU.

    positions: [M] absolute position of each row.
    row_offsets: [S+1] the first row of each segment. starts: [S] absolute position of that row.
    lanes: [S] where the rows since each segment's last block boundary are kept.
    states: [S] the slot that holds the state at the last boundary at or before `starts`.
    write_offsets: [S+1] into write_positions, write_slots: [W] boundaries that a segment keeps, ascending, and in which slots.
    block_offsets: [S+1] into blocks: [B] the block table of each segment, from position 0.
    replays: S entries, or None when no segment has one, as always in exact mode; exact kernels do not look at it.
    drafts: how many of the last rows of each segment are guesses, S entries, or None when there are none; nor at this.
    """

    positions: Tensor
    row_offsets: Tensor
    starts: Tensor
    lanes: Tensor
    states: Tensor
    write_offsets: Tensor
    write_positions: Tensor
    write_slots: Tensor
    block_offsets: Tensor
    blocks: Tensor
    replays: tuple[Replay | None, ...] | None = None
    drafts: tuple[int, ...] | None = None

    @property
    def rows(self) -> int:
        """M."""
        return self.positions.shape[0]

    @property
    def segments(self) -> int:
        """S."""
        return self.starts.shape[0]
