"""The smallest memory with which the scheduler can honour its configuration without ever standing still."""

from isotherm.core.constants import blocks_for


def minimum_blocks(max_model_len: int) -> int:
    """Blocks for one sequence of full length: the oldest running sequence can always go on, by preempting the others."""
    return blocks_for(max_model_len)


def minimum_slots(max_num_seqs: int) -> int:
    """State slots for `max_num_seqs` sequences, the zero slot not counted.

    A running sequence holds one slot, that of its last block boundary, and for the length of a pass that crosses a boundary
    a second one, into which the new state goes. Between passes at most max_num_seqs slots are held, and whatever else is used
    can be evicted; so with one more, the first sequence of every pass gets its second slot, and each pass makes progress. The
    others wait a pass if there is none for them. Twice max_num_seqs is where nobody ever waits.
    """
    return max_num_seqs + 1
