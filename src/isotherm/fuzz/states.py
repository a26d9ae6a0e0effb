"""Everything that a cache has published, against one prefill of the tokens that lead there."""

import hashlib
from collections.abc import Iterator

import torch

from isotherm.cache import PrefixCache, TieredPrefixCache
from isotherm.core.constants import BLOCK
from isotherm.model.decoder import Decoder
from isotherm.model.state import ModelState
from isotherm.runner.drafter import Drafter
from isotherm.runner.forward import Sequenced
from isotherm.runner.host import HostPool

Digests = dict[str, str]
"""By name of a tensor."""


def check_published(
    cache: PrefixCache, state: ModelState, decoder: Decoder, drafter: Drafter | None, host: HostPool | None = None
) -> Iterator[tuple[int, str]]:
    """For each published block, and the snapshot at its end: how many values were compared, and which differ, in words.

    host: the memory of the cache's host tier, whose blocks and snapshots are looked at too.
    """
    kept = [(tokens, _kept(state, block, slot), "") for tokens, block, slot in cache.published()]
    if host is not None and isinstance(cache, TieredPrefixCache):
        found = cache.host.published()
        kept += [(tokens, _kept_in(host, state, block, slot), "in the host ") for tokens, block, slot in found]
    known: dict[tuple[int, ...], Digests] = {}
    for tokens, values, where in sorted(kept, key=lambda item: len(item[0]), reverse=True):
        if tokens not in known:
            for end, expected in state_along(decoder, tokens, drafter).items():
                known[tokens[:end]] = expected
        wrong = [name for name, value in values.items() if known[tokens][name] != value]
        yield len(values), f"{where}after {len(tokens)} tokens: {', '.join(wrong)}" if wrong else ""


def state_along(decoder: Decoder, tokens: tuple[int, ...], drafter: Drafter | None) -> dict[int, Digests]:
    """Of the last block and of the state at every boundary of `tokens` (whole blocks), from one pass on NaN."""
    sequence = Sequenced(decoder, len(tokens), drafter)
    poison(sequence.state)
    sequence.extend(tokens)
    return {end * BLOCK: _kept(sequence.state, end, end) for end in range(1, len(tokens) // BLOCK + 1)}


def _kept(state: ModelState, block: int, slot: int) -> Digests:
    """Of a block, and of a slot unless it is the zero slot."""
    found = {f"block {name}": digest(tensor[block]) for name, tensor in state.by_block().items()}
    return found | {f"slot {name}": digest(tensor[slot]) for name, tensor in state.by_slot().items() if slot}


def _kept_in(host: HostPool, state: ModelState, block: int, slot: int) -> Digests:
    """The same of the host tier's."""
    blocks = zip(state.by_block(), host.blocks.parts(block), strict=True)
    slots = zip(state.by_slot(), host.slots.parts(slot), strict=True) if slot else ()
    found = {f"block {name}": digest(part) for name, part in blocks}
    return found | {f"slot {name}": digest(part) for name, part in slots}


def poison(state: ModelState) -> None:
    """Fill every block, slot and lane with NaN, the zero slot apart."""
    for tensor in (*state.by_block().values(), *state.by_lane().values()):
        tensor.fill_(float("nan"))
    for tensor in state.by_slot().values():
        tensor[1:] = float("nan")


def digest(tensor: torch.Tensor) -> str:
    """Of a tensor's bytes."""
    return hashlib.blake2b(tensor.contiguous().view(torch.uint8).cpu().numpy().tobytes(), digest_size=16).hexdigest()
