"""Choosing tokens: ties, penalties, bans, log-probabilities, and logits that are not finite."""

import math

import pytest
import torch

from isotherm.core.plan import SampleRow, ScoreRow
from isotherm.core.sampling import SamplingParams
from isotherm.kernels.load import load_kernels
from isotherm.runner.sampler import Sampler, adjust

GREEDY = SamplingParams(temperature=0.0, max_tokens=1)


@pytest.fixture(params=["c", "torch"])
def sampler(request) -> Sampler:
    return Sampler(load_kernels(request.param, "float32", 1))


def row(params: SamplingParams = GREEDY, **fields: object) -> SampleRow:
    return SampleRow(offset=0, params=params, seed=1, choice=0, **fields)  # type: ignore[arg-type]


def logits(seed: int = 0, size: int = 700) -> torch.Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(seed)) * 3


def choose(sampler: Sampler, values: torch.Tensor, item: SampleRow | ScoreRow, position: int = 5) -> object:
    return sampler.results(values[None], [item], [position])[0]


def test_temperature_zero_takes_the_largest_logit_and_the_lower_id_of_a_tie(sampler: Sampler) -> None:
    values = torch.zeros(700)
    values[[600, 33, 34]] = 2.0
    assert choose(sampler, values, row()).token == 33


def test_log_probabilities_are_of_the_raw_logits_whatever_the_penalties(sampler: Sampler) -> None:
    values = logits()
    params = SamplingParams(temperature=0.0, max_tokens=1, logprobs=5, repetition_penalty=9.0, presence_penalty=2.0)
    seen = tuple(values.topk(3).indices.tolist())
    result = choose(sampler, values, row(params, prompt=seen, history=seen))
    expected = torch.log_softmax(values.double(), 0)
    assert result.token not in seen
    assert math.isclose(result.logprob, expected[result.token].item(), abs_tol=1e-5)
    assert result.rank == 1 + int((values > values[result.token]).sum())
    assert [token for token, _ in result.top] == values.topk(5).indices.tolist()


def test_a_score_row_reports_the_token_it_names(sampler: Sampler) -> None:
    values = logits(1)
    result = choose(sampler, values, ScoreRow(offset=0, token=7, top=2))
    assert result.token == 7
    assert math.isclose(result.logprob, torch.log_softmax(values.double(), 0)[7].item(), abs_tol=1e-5)
    assert len(result.top) == 2


def test_penalties_follow_their_formulas() -> None:
    values = torch.tensor([2.0, -2.0, 1.0, 4.0])
    params = SamplingParams(max_tokens=1, repetition_penalty=2.0, frequency_penalty=0.5, presence_penalty=0.25)
    adjusted = adjust(values, row(params, prompt=(0,), history=(1, 1, 3)))
    assert adjusted.tolist() == [1.0, -4.0 - 1.0 - 0.25, 1.0, 2.0 - 0.5 - 0.25]
    assert values.tolist() == [2.0, -2.0, 1.0, 4.0]


def test_bias_is_added_and_banned_tokens_are_never_chosen(sampler: Sampler) -> None:
    values = logits(2)
    best = int(values.argmax())
    biased = SamplingParams(temperature=0.0, max_tokens=1, logit_bias=((3, 100.0),))
    assert choose(sampler, values, row(biased)).token == 3
    assert choose(sampler, values, row(banned=(best,))).token != best
    hot = SamplingParams(temperature=2.0, max_tokens=1)
    everything_else = tuple(token for token in range(700) if token != 9)
    assert choose(sampler, values, row(hot, banned=everything_else)).token == 9


def test_logits_that_are_not_finite_fail_that_row_alone(sampler: Sampler) -> None:
    values = torch.stack([logits(3), logits(4), logits(5)])
    values[1, 40] = float("nan")
    results = sampler.results(values, [row(), row(), row()], [1, 1, 1])
    assert [result.finite for result in results] == [True, False, True]
    assert results[2].token == int(values[2].argmax())


def test_a_choice_does_not_depend_on_its_neighbours(sampler: Sampler) -> None:
    params = SamplingParams(temperature=1.0, top_p=0.8, top_k=50, max_tokens=1, logprobs=20)
    values = torch.stack([logits(seed) for seed in range(9)])
    items = [row(params) for _ in range(9)]
    together = sampler.results(values, items, list(range(9)))
    for index in range(9):
        assert sampler.results(values[[index]], [items[index]], [index])[0] == together[index]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", [1, 15, 700, 40_000])
def test_rows_chosen_in_one_call_are_those_chosen_one_by_one(size: int, threads: int) -> None:
    sampler = Sampler(load_kernels("c", "float32", threads))
    kinds = [
        GREEDY,
        SamplingParams(temperature=1.0, max_tokens=1),
        SamplingParams(temperature=0.7, top_p=0.8, max_tokens=1),
        SamplingParams(temperature=1.3, top_k=5, min_p=0.01, max_tokens=1),
    ]
    values = torch.stack([logits(seed, size) for seed in range(len(kinds) + 2)])
    values[-1, size // 2], values[-2, 0] = float("nan"), float("-inf")
    rows = [row(params) for params in [*kinds, GREEDY, GREEDY]]
    positions = list(range(7, 7 + len(rows)))
    together = sampler.results(values, rows, positions)
    assert [result.finite for result in together] == [True] * len(kinds) + [False, False]
    alone = sampler.choices(values[: len(kinds)], rows[: len(kinds)], positions[: len(kinds)])
    assert [result.token for result in together[: len(kinds)]] == alone
    assert sampler.results(values[:1], [row(GREEDY, banned=(alone[0],))], [7])[0].token != alone[0] or size == 1
