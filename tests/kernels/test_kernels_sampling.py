"""Log-sum-exp, the largest logits, Gumbel-max and its noise."""

import math

import numpy as np
import pytest
import segmented as seg
import torch
from torch import Tensor

from isotherm.kernels.sampling.noise import gumbel, philox
from isotherm.kernels.sampling.reference import kept, order

BOTH = [*seg.BEST[:1], "torch-any-float32"]
ALL = [name for name in seg.PROVIDERS if name.endswith("float32")]
KEY = (1234567890123, 0, 77)


def logits(vocabulary: int, seed: int = 0, spread: float = 3.0) -> Tensor:
    return spread * torch.randn(vocabulary, generator=torch.Generator().manual_seed(seed))


def test_philox_gives_the_published_answers() -> None:
    """Random123's known-answer vectors for philox4x32 with ten rounds."""
    cases = [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ]
    for counter, key, answer in cases:
        c0, c1, c2, c3 = (np.array([word], dtype=np.uint64) for word in counter)
        assert tuple(int(word[0]) for word in philox((c0, c1, c2, c3), key)) == answer


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("key", [KEY, (-1, 3, 0), (2**63 - 1, 1, 2**31)])
def test_the_noise_of_a_token_is_the_generators(name: str, key: tuple[int, int, int]) -> None:
    """Over two tokens of equal logits, the choice tells which noise is larger; over many, the argmax."""
    kernels = seg.provider(name)
    noise = gumbel(5000, key)
    assert kernels.sample(torch.zeros(5000), 1.0, 0, 1.0, 0.0, key) == int(np.argmax(noise))
    for first in range(0, 4000, 97):
        pair = torch.full((5000,), -torch.inf)
        pair[[first, first + 61]] = 1.5
        expected = first if noise[first] >= noise[first + 61] else first + 61
        assert kernels.sample(pair, 0.7, 0, 1.0, 0.0, key) == expected


@pytest.mark.parametrize("name", ALL)
def test_fault_28_noise_depends_on_the_token_and_not_on_rank_or_padding(name: str) -> None:
    kernels, x = seg.provider(name), logits(1000)
    for position in range(40):
        key = (5, 0, position)
        chosen = kernels.sample(x, 1.0, 0, 1.0, 0.0, key)
        assert kernels.sample(torch.cat([x, torch.full((77,), -torch.inf)]), 1.0, 0, 1.0, 0.0, key) == chosen
        assert kernels.sample(x, 1.0, 1000, 1.0, 0.0, key) == chosen
        better = x.clone()
        better[(chosen + 1) % 1000] = x.min()
        assert kernels.sample(better, 1.0, 0, 1.0, 0.0, key) == chosen


@pytest.mark.parametrize("name", BOTH)
def test_frequencies_follow_the_softmax(name: str) -> None:
    """A chi-squared test with 7 degrees of freedom; 24.3 is passed by chance once in a thousand, but the draws are fixed."""
    kernels, x, draws = seg.provider(name), logits(8, seed=3, spread=1.0), 4000
    counts = torch.zeros(8)
    for position in range(draws):
        counts[kernels.sample(x, 0.8, 0, 1.0, 0.0, (99, 0, position))] += 1
    expected = torch.softmax(x / 0.8, 0) * draws
    assert float(((counts - expected) ** 2 / expected).sum()) < 24.3


@pytest.mark.parametrize("name", BOTH)
def test_choices_seeds_and_positions_are_independent(name: str) -> None:
    kernels, x = seg.provider(name), torch.zeros(100)
    drawn = {kernels.sample(x, 1.0, 0, 1.0, 0.0, (s, c, p)) for s in range(5) for c in range(5) for p in range(5)}
    assert len(drawn) > 50


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("vocabulary", [1, 5, 16, 1000])
def test_temperature_zero_is_the_largest_logit_at_the_lowest_id(name: str, vocabulary: int) -> None:
    kernels, x = seg.provider(name), logits(vocabulary)
    assert kernels.sample(x, 0.0, 0, 1.0, 0.0, KEY) == int(x.argmax())
    x[vocabulary // 2 :] = x.max() + 1
    assert kernels.sample(x, 0.0, 3, 0.5, 0.1, KEY) == vocabulary // 2


RULES = [
    (5, 1.0, 0.0),
    (0, 0.7, 0.0),
    (0, 1.0, 0.05),
    (40, 0.9, 0.0),
    (0, 0.8, 0.02),
    (7, 0.6, 0.1),
    (0, 1e-4, 0.0),
    (1, 1.0, 0.0),
]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("top_k, top_p, min_p", RULES)
def test_filters_keep_the_stated_prefix(name: str, top_k: int, top_p: float, min_p: float) -> None:
    """Every draw is the reference's: the largest of x + noise over the kept tokens."""
    kernels = seg.provider(name)
    for seed in range(6):
        x = logits(2000, seed)
        ids = kept(x, 0.9, top_k, top_p, min_p)
        for position in range(20):
            key = (7, 0, position)
            scores = (x[ids] - x.max()) / 0.9 + torch.from_numpy(gumbel(2000, key))[ids]
            assert kernels.sample(x, 0.9, top_k, top_p, min_p, key) == int(ids[scores.argmax()])


@pytest.mark.parametrize("name", ALL)
def test_ties_are_kept_by_lower_id(name: str) -> None:
    kernels = seg.provider(name)
    x = torch.zeros(64)
    x[10] = 1.0
    drawn = {kernels.sample(x, 1.0, 4, 1.0, 0.0, (1, 0, position)) for position in range(200)}
    assert drawn == {0, 1, 2, 10}
    drawn = {
        kernels.sample(x, 1.0, 0, (math.e + 2.5) / (63 + math.e), 0.0, (1, 0, position)) for position in range(200)
    }
    assert drawn == {0, 1, 2, 10}


@pytest.mark.parametrize("name", ALL)
def test_a_flat_distribution_is_cut_by_mass_wherever_that_falls(name: str) -> None:
    kernels = seg.provider(name)
    x = torch.zeros(4096) - torch.arange(4096) * 0.02
    for top_p in (0.2, 0.9, 0.9999):
        limit = len(kept(x, 1.0, 0, top_p, 0.0))
        assert max(kernels.sample(x, 1.0, 0, top_p, 0.0, (3, 0, position)) for position in range(300)) <= limit + 1


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("top_k, top_p, min_p", [(0, 1.0, 0.0), *RULES])
def test_a_banned_token_is_never_chosen(name: str, top_k: int, top_p: float, min_p: float) -> None:
    kernels, x = seg.provider(name), torch.full((100,), -torch.inf)
    x[[40, 70]] = torch.tensor([0.0, 0.1])
    drawn = {kernels.sample(x, 1.5, top_k, top_p, min_p, (2, 0, position)) for position in range(60)}
    assert drawn <= {40, 70}
    assert kernels.sample(x, 0.0, top_k, top_p, min_p, KEY) == 70


@pytest.mark.parametrize("name", ALL)
def test_logits_that_are_not_finite_choose_some_token(name: str) -> None:
    kernels = seg.provider(name)
    for bad in (torch.full((50,), torch.nan), torch.full((50,), -torch.inf), torch.full((50,), torch.inf)):
        for rule in ((0, 1.0, 0.0), (5, 1.0, 0.0), (0, 0.5, 0.0), (0, 1.0, 0.5)):
            for temperature in (0.0, 1.0):
                assert 0 <= kernels.sample(bad, temperature, *rule, KEY) < 50


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("temperature", [1e-30, 1e-5, 2.0])
def test_extreme_temperatures_are_finite(name: str, temperature: float) -> None:
    kernels, x = seg.provider(name), logits(200, spread=30.0)
    token = kernels.sample(x, temperature, 0, 1.0, 0.0, KEY)
    assert token == int(x.argmax()) if temperature < 1 else 0 <= token < 200


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("vocabulary", [1, 15, 16, 17, 3001])
def test_log_sum_exp_is_close_and_the_same_alone_as_among_rows(name: str, vocabulary: int) -> None:
    kernels = seg.provider(name)
    x = torch.stack([logits(vocabulary, seed, 8.0) for seed in range(9)])
    x[:, 1::7] = -torch.inf
    sums = kernels.log_sum_exp(x)
    torch.testing.assert_close(sums.double(), torch.logsumexp(x.double(), -1), rtol=2e-6, atol=2e-6)
    for i in range(9):
        assert seg.equal(kernels.log_sum_exp(x[i : i + 1]), sums[i : i + 1])
    for threads in seg.THREADS:
        assert seg.equal(seg.provider(name, threads).log_sum_exp(x), sums)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("k", [0, 1, 3, 20, 700, 1500])
def test_top_is_in_order_with_ties_by_id(name: str, k: int) -> None:
    kernels = seg.provider(name)
    x = torch.stack([logits(1500, seed).mul(4).round() for seed in range(5)])
    ids, values = kernels.top(x, k)
    assert ids.dtype == torch.int32
    for row, i, v in zip(x, ids, values, strict=True):
        assert torch.equal(i.long(), order(row)[:k])
        assert torch.equal(v, row[i.long()])


def test_noise_is_finite_over_a_large_vocabulary_and_has_the_gumbel_mean() -> None:
    noise = np.concatenate([gumbel(250_000, (8, 0, position)) for position in range(4)])
    assert np.isfinite(noise).all()
    assert abs(float(noise.mean()) - 0.5772) < 0.005
    assert abs(float(noise.std()) - math.pi / math.sqrt(6)) < 0.005
