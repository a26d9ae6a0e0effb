"""Logits -> tokens and log-probabilities, row by row, as the plan asks."""

from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from isotherm.core.plan import RowResult, SampleRow, ScoreRow
from isotherm.kernels.api import Kernels
from isotherm.kernels.c_provider import CKernels
from isotherm.kernels.fixed import one_thread
from isotherm.kernels.sampling.c import Choice, as_tensor


class Sampler:
    """Stateless: everything that a choice depends on is in the row."""

    def __init__(self, kernels: Kernels):
        self.kernels = kernels

    def results(
        self, logits: Tensor, rows: Sequence[SampleRow | ScoreRow], positions: Sequence[int]
    ) -> list[RowResult]:
        """logits [R, V] float32; rows R of them; positions: the absolute position of the token that follows each row."""
        choices = self.plain_choices(rows, positions)
        if choices is not None:
            assert isinstance(self.kernels, CKernels)
            return self.reported(logits, rows, self.kernels.choose(logits, choices))
        with one_thread():  # torch's threads would have to be woken, and compete with those that kernels keep awake
            finite = (torch.isfinite(logits.amax(1)) & torch.isfinite(logits.amin(1))).tolist()  # a NaN is both
        tokens = [
            self._token(logits[index], row, positions[index]) if finite[index] else 0 for index, row in enumerate(rows)
        ]
        return self._told(logits, rows, tokens, finite)

    def choices(self, logits: Tensor, rows: Sequence[SampleRow], positions: Sequence[int]) -> list[int]:
        """The tokens alone."""
        return [self._token(logits[index], row, positions[index]) for index, row in enumerate(rows)]

    def plain_choices(self, rows: Sequence[SampleRow | ScoreRow], positions: Sequence[int]) -> Tensor | None:
        """How each row chooses, for CKernels.choose; None where that is not all there is to it."""
        if not rows or not isinstance(self.kernels, CKernels):
            return None
        choices = []
        for row, position in zip(rows, positions, strict=True):
            if isinstance(row, ScoreRow) or is_adjusted(row):
                return None
            params, key = row.params, (row.seed, row.choice, position)
            choices.append(Choice.of(params.temperature, params.top_k, params.top_p, params.min_p, key))
        return as_tensor(choices)

    def reported(self, logits: Tensor, rows: Sequence[SampleRow | ScoreRow], chosen: Tensor) -> list[RowResult]:
        """As `results`, once it is known what each row chooses, -1 where a logit is not finite."""
        tokens: list[int] = chosen.tolist()
        return self._told(logits, rows, [max(token, 0) for token in tokens], [token >= 0 for token in tokens])

    def _token(self, logits: Tensor, row: SampleRow | ScoreRow, position: int) -> int:
        if isinstance(row, ScoreRow):
            return row.token
        params = row.params
        adjusted = adjust(logits, row)
        key = (row.seed, row.choice, position)
        return self.kernels.sample(adjusted, params.temperature, params.top_k, params.top_p, params.min_p, key)

    def _told(
        self, logits: Tensor, rows: Sequence[SampleRow | ScoreRow], tokens: list[int], finite: list[bool]
    ) -> list[RowResult]:
        """What each row reports, log-probabilities where it asks for them."""
        results = [RowResult(token, finite=ok) for token, ok in zip(tokens, finite, strict=True)]
        for index, entry in self._log_probabilities(logits, rows, tokens, finite):
            results[index] = entry
        return results

    def _log_probabilities(
        self, logits: Tensor, rows: Sequence[SampleRow | ScoreRow], tokens: list[int], finite: list[bool]
    ) -> list[tuple[int, RowResult]]:
        """Of the raw logits, for the rows that ask: logit - log(sum(exp(logits))), float32."""
        wanted = [
            (index, most) for index, row in enumerate(rows) if finite[index] and (most := _wanted(row)) is not None
        ]
        if not wanted:
            return []
        places = [index for index, _ in wanted]
        raw, chosen = logits[places], torch.tensor([tokens[index] for index in places], device=logits.device)
        normalizer = self.kernels.log_sum_exp(raw)[:, None]
        value = raw.gather(1, chosen[:, None])
        before = (raw > value) | ((raw == value) & (torch.arange(raw.shape[1], device=raw.device) < chosen[:, None]))
        ranks = (1 + before.sum(dim=1)).tolist()
        tops = self._tops(raw, normalizer, [most for _, most in wanted])
        entries = zip(chosen.tolist(), (value - normalizer)[:, 0].tolist(), ranks, tops, strict=True)
        return [(index, RowResult(*entry)) for index, entry in zip(places, entries, strict=True)]

    def _tops(self, raw: Tensor, normalizer: Tensor, wanted: list[int]) -> list[tuple[tuple[int, float], ...]]:
        """The likeliest tokens of each row with their log-probabilities, as many as the row wants."""
        most = min(max(wanted), raw.shape[1])
        if not most:
            return [()] * len(wanted)
        ids, values = self.kernels.top(raw, most)
        rows = zip(ids.tolist(), (values - normalizer).tolist(), wanted, strict=True)
        return [tuple(zip(row[:count], probabilities[:count], strict=True)) for row, probabilities, count in rows]


def _wanted(row: SampleRow | ScoreRow) -> int | None:
    return row.top if isinstance(row, ScoreRow) else row.params.logprobs


def is_adjusted(row: SampleRow) -> bool:
    """Whether `adjust` does anything."""
    return bool(row.params.needs_history or row.params.logit_bias or row.banned)


def adjust(logits: Tensor, row: SampleRow) -> Tensor:
    """logits [V] float32 -> with bias, penalties and bans applied, in that order; the same tensor when there are none.

    Repetition divides positive and multiplies negative logits of every token seen (Keskar et al. 2019, CTRL, section 4.1);
    frequency subtracts its penalty once an occurrence since the prompt, presence once. Each step is one rounded operation.
    """
    if not is_adjusted(row):
        return logits
    params, device = row.params, logits.device
    logits = logits.clone()
    if params.logit_bias:
        ids, bias = zip(*params.logit_bias, strict=True)
        logits[list(ids)] += torch.tensor(bias, dtype=torch.float32, device=device)
    if params.repetition_penalty != 1.0 and (seen := sorted({*row.prompt, *row.history})):
        values = logits[seen]
        logits[seen] = torch.where(values > 0, values / params.repetition_penalty, values * params.repetition_penalty)
    if row.history and (params.frequency_penalty or params.presence_penalty):
        counts = Counter(row.history)
        used = sorted(counts)
        times = torch.tensor([counts[token] for token in used], dtype=torch.float32, device=device)
        frequency = times * params.frequency_penalty
        logits[used] = logits[used] - frequency
        logits[used] = logits[used] - params.presence_penalty
    if row.banned:
        logits[list(row.banned)] = float("-inf")
    return logits
