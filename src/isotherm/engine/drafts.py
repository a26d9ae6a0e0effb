"""How good a model's drafter is: its first drafts against what the model itself has written."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from isotherm.core.constants import blocks_for
from isotherm.model.decoder import Decoder
from isotherm.model.mtp import AnyMtp, mtp_state, read_rows
from isotherm.runner.forward import Sequenced

PASS = 2048
"""Tokens a pass."""


@dataclass(frozen=True, slots=True)
class DraftCount:
    """accepted: how many of `drafted` first drafts were the token that the model wrote."""

    accepted: int
    drafted: int


@torch.inference_mode()
def count_first_drafts(decoder: Decoder, mtp: AnyMtp, prompt: Sequence[int], written: Sequence[int]) -> DraftCount:
    """Teacher-forced: for every written token but the first, the draft made where the one before it had just been chosen.

    prompt: at least one token. written: the tokens after it, the end token included.
    """
    sequence = [*prompt, *written]
    store = mtp_state(decoder.spec, decoder.kernels, blocks_for(len(sequence)) + 1)
    model = Sequenced(decoder, len(sequence))
    first, accepted = len(prompt) - 1, 0
    for start in range(0, len(sequence), PASS):
        batch, hidden = model.rows(sequence[start : start + PASS])
        end = start + len(hidden)
        after = torch.tensor([*sequence[start + 1 : end + 1], 0][: len(hidden)], dtype=torch.int32)
        rows = mtp.forward(decoder.kernels, batch, read_rows(mtp, decoder, hidden), after, store)
        wanted = range(max(start, first), min(end, len(sequence) - 2))
        if wanted:
            chosen = decoder.kernels.top(
                mtp.logits(decoder.kernels, rows[wanted.start - start : wanted.stop - start]), 1
            )[0]
            accepted += sum(draft == sequence[t + 2] for t, draft in zip(wanted, chosen[:, 0].tolist(), strict=True))
    return DraftCount(accepted, max(0, len(written) - 1))
