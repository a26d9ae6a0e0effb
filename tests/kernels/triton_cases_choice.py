"""Sampling for test_triton_interpreted.py; not a test by itself. See triton_cases."""

import sys

import torch
from torch import Tensor
from triton_cases import close, run_case

from isotherm.kernels.sampling import reference
from isotherm.kernels.sampling import triton_form as form
from isotherm.kernels.sampling.noise import gumbel

V = 4500


def largest() -> None:
    logits = torch.randn(5, V)
    logits[1, [7, 2100, 4499]] = 9.0
    logits[2] = -torch.inf
    logits[3, 5] = torch.nan
    logits[4, :] = -1.0
    logits[4, 9], logits[4, 4] = 0.0, -0.0
    expected = [int(logits[0].argmax()), 7, 0, int(logits[3].nan_to_num(-9e9).argmax()), 4]
    assert form.argmax_rows(logits).tolist() == expected
    ids, finite = form.greedy_rows(logits[:, 1:])
    assert ids.tolist()[:2] == [int(logits[0, 1:].argmax()), 6]
    assert finite.tolist() == [True, True, False, False, True]
    ids, values = form.top(logits[:2], 4)
    assert ids[1, :3].tolist() == [7, 2100, 4499] and torch.equal(values[1], logits[1].sort(descending=True).values[:4])
    close(form.log_sum_exp(logits[:2]), reference.log_sum_exp(logits[:2].double()))


def noise() -> None:
    """The noise of every token: what a choice between one token and a ladder of others says of it, seen through a flat row."""
    keys = torch.tensor([[form.signed(2**63 + 12345), 1, 77], [3, 0, 0]], dtype=torch.int64)
    for row, key in enumerate([(2**63 + 12345, 1, 77), (3, 0, 0)]):
        expected = torch.from_numpy(gumbel(V, key))
        chosen = form.sample_rows(torch.zeros(1, V), torch.ones(1), keys[row : row + 1])
        assert int(chosen) == int(expected.argmax())
        ladder = torch.zeros(20, V) - 100 * (torch.arange(V)[None, :] // 225 != torch.arange(20)[:, None])
        chosen = form.sample_rows(ladder, torch.ones(20), keys[row : row + 1].expand(20, 3).contiguous())
        assert chosen.tolist() == [int((expected + step).argmax()) for step in ladder]


def rules() -> None:
    logits = torch.randn(V) * 3
    logits[[3, 70, 4000]] = float(logits.max())
    settings: list[tuple[float, int, float, float]] = [
        (1.0, 5, 1.0, 0.0), (0.7, 0, 0.9, 0.0), (1.3, 0, 1.0, 0.05), (1.0, 50, 0.8, 0.01), (0.9, 2, 1.0, 0.0),
        (1.0, 0, 1e-9, 0.0), (1.0, 10**12, 0.999, 0.0), (0.0, 3, 0.5, 0.0), (1.0, 0, 1.0, 0.0),
    ]  # fmt: skip
    for setting in settings:
        for position in range(4):
            key = (99, 2, position)
            assert form.sample(logits, *setting, key) == reference.sample(logits, *setting, key), (setting, position)
    together(logits, settings[:6])


def together(logits: Tensor, settings: list[tuple[float, int, float, float]]) -> None:
    """Rows with rules of their own, in one call."""
    temperatures, top_ks, top_ps, min_ps = zip(*settings, strict=True)
    keys = torch.tensor([[99, 2, i] for i in range(len(settings))])
    rules = torch.tensor(top_ks, dtype=torch.int32), torch.tensor(top_ps), torch.tensor(min_ps)
    ids = form.sample_rows(logits.expand(len(settings), V), torch.tensor(temperatures), keys, *rules)
    assert ids.tolist() == [form.sample(logits, *one, (99, 2, i)) for i, one in enumerate(settings)]


if __name__ == "__main__":
    run_case({"largest": largest, "noise": noise, "rules": rules}[sys.argv[1]])
