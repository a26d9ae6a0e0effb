"""The choice of a token on the GPU: launches of triton_kernels."""

import torch
import triton
from torch import Tensor

from isotherm.kernels.gpu.launch import OPTIONS, aligned, overlap, units
from isotherm.kernels.sampling import triton_kernels as tk

PART = 2048
"""Tokens a program. Part of the bits of a sum."""

SCAN = 4096
"""Tokens of a block of the running sum of top_p. Part of the bits."""

_WORD64, _SIGN64 = (1 << 64) - 1, 1 << 63


def argmax_rows(logits: Tensor) -> Tensor:
    """logits [R, V] float32 -> the id of each row's largest [R] int32, ties to the lowest. Waits for nothing."""
    return _largest(aligned(logits))[0]


def greedy_rows(logits: Tensor) -> tuple[Tensor, Tensor]:
    """argmax_rows, and whether every logit of a row is finite [R] bool."""
    ids, _, finite = _largest(aligned(logits))
    return ids, finite


def sample_rows(
    logits: Tensor,
    temperatures: Tensor,
    keys: Tensor,
    top_ks: Tensor | None = None,
    top_ps: Tensor | None = None,
    min_ps: Tensor | None = None,
) -> Tensor:
    """One token a row of logits [R, V] -> ids [R] int32, as Kernels.sample chooses it. Waits for nothing.

    temperatures, top_ps, min_ps: [R] float32. top_ks: [R] int32. keys: [R, 3] int64, the seed's 64 bits, choice, position.
    The three rules together or not at all; with them every temperature is above 0, and a row that has none is 0, 1.0 and 0.0.
    """
    logits = aligned(logits)
    rows, v = logits.shape
    parts = triton.cdiv(v, PART)
    _, values, _ = _largest(logits)
    pairs = torch.empty(rows, parts, dtype=torch.int64, device=logits.device)
    if top_ks is None:
        tk.noisy_of_parts[(rows, parts)](
            logits, values, temperatures, keys, pairs, units(logits), v, BV=PART, **overlap(), **OPTIONS
        )
        return _best(pairs)[0]
    x = torch.empty(rows, v, dtype=torch.float32, device=logits.device)
    tk.scale_rows[(rows, parts)](logits, values, temperatures, x, units(logits), v, BV=PART, **overlap(), **OPTIONS)
    ordered, ids = torch.sort(x, dim=-1, descending=True, stable=True)
    counts = torch.empty(rows, dtype=torch.int32, device=logits.device)
    tk.keep_prefix[(rows,)](ordered, top_ks, top_ps, min_ps, counts, v, BV=SCAN, num_warps=8, **overlap(), **OPTIONS)
    tk.noisy_of_kept[(rows, parts)](ordered, ids, counts, keys, pairs, v, BV=PART, **overlap(), **OPTIONS)
    return _best(pairs)[0]


def sample(
    logits: Tensor, temperature: float, top_k: int, top_p: float, min_p: float, key: tuple[int, int, int]
) -> int:
    """See isotherm.kernels.api.Kernels.sample. Waits for the device."""
    row = logits.view(1, -1)
    if temperature == 0:
        return int(argmax_rows(row))

    def one(value: float, dtype: torch.dtype) -> Tensor:
        return torch.tensor([value], dtype=dtype).to(logits.device)

    seed, choice, position = key
    keys = torch.tensor([[signed(seed), choice, position]], dtype=torch.int64).to(logits.device)
    temperatures = one(temperature, torch.float32)
    if top_k <= 0 and top_p >= 1 and min_p <= 0:
        return int(sample_rows(row, temperatures, keys))
    rules = one(min(top_k, 2**31 - 1), torch.int32), one(top_p, torch.float32), one(min_p, torch.float32)
    return int(sample_rows(row, temperatures, keys, *rules))


def signed(seed: int) -> int:
    """The low 64 bits of a seed as torch.int64 holds them."""
    return ((seed & _WORD64) ^ _SIGN64) - _SIGN64


def log_sum_exp(logits: Tensor) -> Tensor:
    """See isotherm.kernels.api.Kernels.log_sum_exp."""
    logits = aligned(logits)
    rows, v = logits.shape
    parts = triton.cdiv(v, PART)
    _, values, _ = _largest(logits)
    sums, out = logits.new_empty(rows, parts), logits.new_empty(rows)
    tk.exp_of_parts[(rows, parts)](logits, values, sums, units(logits), v, BV=PART, **overlap(), **OPTIONS)
    tk.log_of_sums[(rows,)](
        sums, values, out, parts, BP=triton.next_power_of_2(parts), num_warps=1, **overlap(), **OPTIONS
    )
    return out


def top(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """See isotherm.kernels.api.Kernels.top. A NaN counts as -inf and -0 as 0, so that the order is one."""
    x = torch.where(logits == logits, logits, -torch.inf) + 0.0
    values, ids = torch.sort(x, dim=-1, descending=True, stable=True)
    return ids[:, :k].to(torch.int32), values[:, :k].contiguous()


def _largest(logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """id, value, and whether all are finite, of each row of aligned logits."""
    rows, v = logits.shape
    parts = triton.cdiv(v, PART)
    pairs = torch.empty(rows, parts, dtype=torch.int64, device=logits.device)
    finites = torch.empty(rows, parts, dtype=torch.int32, device=logits.device)
    tk.largest_of_parts[(rows, parts)](logits, pairs, finites, units(logits), v, BV=PART, **overlap(), **OPTIONS)
    return _best(pairs, finites)


def _best(pairs: Tensor, finites: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    rows, parts = pairs.shape
    ids = torch.empty(rows, dtype=torch.int32, device=pairs.device)
    values = torch.empty(rows, dtype=torch.float32, device=pairs.device)
    finite = torch.empty(rows, dtype=torch.bool, device=pairs.device)
    tk.best_of_parts[(rows,)](
        pairs,
        pairs if finites is None else finites,
        ids,
        values,
        finite.view(torch.int8),
        parts,
        BP=triton.next_power_of_2(parts),
        FINITE=finites is not None,
        num_warps=1,
        **overlap(),
        **OPTIONS,
    )
    return ids, values, finite
