"""The numbers that the contract fixes."""

BLOCK = 64
"""Tokens in a block: a KV page in every attention layer, and the only positions at which recurrent state exists."""

ZERO_SLOT = 0
"""The state slot that holds the empty sequence's state, all zeros; never written, never freed."""

NULL_BLOCK = 0
"""A block id that is never handed out, so that a table full of it is visibly wrong."""


def block_floor(position: int) -> int:
    """The last block boundary at or before `position`."""
    return position // BLOCK * BLOCK


def blocks_for(tokens: int) -> int:
    """How many blocks hold `tokens` tokens."""
    return -(-tokens // BLOCK)


def draft_room(position: int) -> int:
    """How many guesses may follow the token at `position`, so that no state is made from one.

    They stop before the last position of a block, whose row completes the state at its end. After a token at a last position
    that state is there, and a block's worth may follow.
    """
    return (BLOCK - 2 - position) % BLOCK
