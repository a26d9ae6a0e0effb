"""The choice of a token on the GPU: as the definition has it, and a row's choice is its own."""

import pytest
import torch
from row_checks import relative, rows_are_their_own
from torch import Tensor

pytest.importorskip("triton", reason="Triton is not installed")

from isotherm.kernels.sampling import reference
from isotherm.kernels.sampling import triton_form as form
from isotherm.kernels.sampling.noise import gumbel

V = 151_936

Rules = tuple[int, float, float]
"""top_k, top_p, min_p."""


def logits(device: torch.device, rows: int, columns: int = V) -> Tensor:
    return 3 * torch.randn(rows, columns, device=device)


@pytest.mark.parametrize("columns", [V, 3000, 1])
def test_the_largest_and_its_ties(device: torch.device, columns: int) -> None:
    x = logits(device, 300, columns).round()  # many ties
    expected = torch.sort(x, dim=1, descending=True, stable=True).indices[:, 0].int()
    assert torch.equal(form.argmax_rows(x), expected)
    for first, rows in ((0, 1), (5, 7), (40, 256)):
        assert torch.equal(form.argmax_rows(x[first : first + rows]), expected[first : first + rows])
    x[3], x[4, -1], x[5] = torch.nan, torch.inf, -torch.inf
    ids, finite = form.greedy_rows(x)
    assert torch.equal(ids[6:], expected[6:]) and finite.tolist() == [True] * 3 + [False] * 3 + [True] * 294
    assert ids[3:6].tolist() == [0, columns - 1, 0]


def test_sums_and_tops(device: torch.device) -> None:
    x = logits(device, 300, V)
    assert relative(form.log_sum_exp(x), torch.logsumexp(x.double(), 1)) < 1e-6
    rows_are_their_own(lambda x: form.log_sum_exp(x)[:, None], x)
    ids, values = form.top(x[:9].round(), 20)
    order = torch.sort(x[:9].round(), dim=1, descending=True, stable=True)
    assert torch.equal(ids, order.indices[:, :20].int()) and torch.equal(values, order.values[:, :20])


def test_the_noise_is_the_counters(device: torch.device) -> None:
    """Seen through rows in which one token at a time is likelier than the rest by 60."""
    key = (2**63 + 12345, 1, 77)
    expected = torch.from_numpy(gumbel(V, key))
    keys = torch.tensor([[form.signed(key[0]), *key[1:]]], device=device)
    chosen = form.sample_rows(torch.zeros(1, V, device=device), torch.ones(1, device=device), keys)
    assert int(chosen) == int(expected.argmax())
    groups = torch.arange(V) // 1000
    ladder = torch.where(groups[None, :] == torch.arange(152)[:, None], 0.0, -60.0)
    chosen = form.sample_rows(ladder.to(device), torch.ones(152, device=device), keys.expand(152, 3).contiguous())
    assert chosen.tolist() == [int((expected + step).argmax()) for step in ladder]


RULES: list[Rules] = [(0, 1.0, 0.0), (40, 1.0, 0.0), (0, 0.9, 0.0), (0, 1.0, 0.02), (100, 0.95, 0.01), (0, 1e-9, 0.0)]


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_choices_are_the_definitions(device: torch.device, rules: Rules) -> None:
    """Of random logits; the definition is in float64, so that an edge of top_p may lie between them, though not often."""
    differ = 0
    for position in range(12):
        x, setting, key = logits(device, 1)[0], (0.8, *rules), (7, 0, position)
        differ += form.sample(x, *setting, key) != reference.sample(x.cpu(), *setting, key)
    assert differ <= 1


def test_a_rows_choice_is_its_own(device: torch.device) -> None:
    """In one call with others, of other rules, and in any order."""
    rows = 24
    x = logits(device, rows)
    rules = [RULES[i % len(RULES)] for i in range(rows)]
    temperatures = torch.linspace(0.5, 1.5, rows, device=device)
    keys = torch.tensor([[5, i % 2, 100 + i] for i in range(rows)], device=device)
    columns = [torch.tensor(column, device=device) for column in zip(*rules, strict=True)]
    columns[0] = columns[0].int()
    ids = form.sample_rows(x, temperatures, keys, *columns)
    alone = [form.sample(x[i], float(temperatures[i]), *rules[i], (5, i % 2, 100 + i)) for i in range(rows)]
    assert ids.tolist() == alone
    order = torch.randperm(rows, device=device)
    shuffled = form.sample_rows(x[order], temperatures[order], keys[order], *(column[order] for column in columns))
    assert torch.equal(shuffled, ids[order])
    plain = form.sample_rows(x, torch.where(temperatures > 1, temperatures, 0.0), keys)
    for i in range(rows):
        t = float(temperatures[i])
        assert int(plain[i]) == form.sample(x[i], t if t > 1 else 0.0, 0, 1.0, 0.0, (5, i % 2, 100 + i))


def test_choices_can_be_recorded_in_a_graph(device: torch.device) -> None:
    x = logits(device, 32)
    ids = form.argmax_rows(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        recorded = form.argmax_rows(x)
    x.copy_(x.flip(0))
    graph.replay()
    assert torch.equal(recorded, ids.flip(0))
