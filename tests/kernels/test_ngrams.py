"""Hashed n-grams: equal to their definition in Python's integers, however a sequence is cut, the end token anywhere."""

import pytest
import segmented as seg
import torch

from isotherm.kernels.ngram.reference import ngrams
from isotherm.kernels.ngram.torch_form import NgramHash
from isotherm.model.ngram import multipliers, primes_from

END = 7
LENGTHS = (130, 1, 64, 65, 200)


def hashing(order: int, heads: int = 2, vocabulary: int = 250_000) -> NgramHash:
    sizes = primes_from(1000, 3, (order - 1) * heads)
    offsets = tuple(sum(sizes[:head]) for head in range(len(sizes)))
    return NgramHash(multipliers(vocabulary, order, 1, 1234), sizes, offsets, END)


def places(inputs: list[torch.Tensor], passes: list[seg.Pass], order: int) -> list[torch.Tensor]:
    kernels, ledger = seg.provider("torch-any-float32"), seg.Ledger([len(x) for x in inputs])
    state = kernels.ngram_state(order, ledger.slots, ledger.lane_count)
    seg.poison(state.rows)
    seg.poison(state.history, keep_first=True)
    return seg.play(inputs, passes, ledger, lambda batch, x: kernels.ngrams(batch, x, hashing(order), state))


def sequences(share_of_ends: float) -> list[torch.Tensor]:
    random = torch.Generator().manual_seed(2)
    made = []
    for length in LENGTHS:
        tokens = torch.randint(0, 250_000, (length,), generator=random, dtype=torch.int32)
        tokens[torch.rand(length, generator=random) < share_of_ends] = END
        made.append(tokens)
    return made


@pytest.mark.parametrize("order", [2, 3, 5])
@pytest.mark.parametrize("ends", [0.0, 0.3])
@pytest.mark.parametrize("cut", ["whole", "rows", "batched"])
def test_places_are_those_of_the_definition(order: int, ends: float, cut: str) -> None:
    inputs = sequences(ends)
    passes = {"whole": seg.whole, "rows": seg.one_by_one, "batched": lambda n: seg.batched(n, 4)}[cut](LENGTHS)
    for tokens, found in zip(inputs, places(inputs, passes, order), strict=True):
        assert found.tolist() == ngrams(tokens.tolist(), hashing(order))


@pytest.mark.parametrize("offset", range(1, 5))
@pytest.mark.parametrize("cut", [62, 63, 64, 65, 66])
def test_an_end_token_at_any_offset_before_a_cut_resets_what_comes_after(offset: int, cut: int) -> None:
    tokens = torch.arange(100, 180, dtype=torch.int32)
    tokens[cut - offset] = END
    found = places([tokens], [[(0, cut)], [(0, len(tokens) - cut)]], 4)[0]
    assert found.tolist() == ngrams(tokens.tolist(), hashing(4))
    before = tokens.clone()
    before[: cut - offset] = 99
    same = [row for row in range(cut, len(tokens)) if ngrams(before.tolist(), hashing(4))[row] == found[row].tolist()]
    assert same == list(range(cut, len(tokens))), "what lies before an end token must not be seen"


def test_places_stay_below_the_end_of_the_table() -> None:
    used = hashing(3)
    found = torch.cat(places(sequences(0.1), seg.whole(LENGTHS), 3))
    assert found.min() >= 0 and (found < torch.tensor(used.offsets) + torch.tensor(used.sizes)).all()
    assert (found >= torch.tensor(used.offsets)).all()


def test_multipliers_are_odd_and_keep_products_below_2_to_63() -> None:
    for place in range(3):
        drawn = multipliers(248_320, 3, place, 1234)
        assert all(m % 2 and m * 248_319 < 1 << 63 for m in drawn)
