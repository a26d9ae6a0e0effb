"""The delta rule token by token: what decode runs."""

import torch
from torch import Tensor

from isotherm.native.delta_inputs import Inputs


def step(x: Inputs, s: Tensor) -> tuple[Tensor, Tensor]:
    """One token of each of n sequences, s [n, Hv, DK, DV] -> outputs [n, Hv, DV] and the states after it.

    S = exp(g) S + k (x) beta (v - k exp(g) S); o = q S. Yang et al. 2025, arXiv:2412.06464, eq. 10.
    """
    s = s * torch.exp(x.g)[..., None, None]
    u = x.beta[..., None] * (x.v - torch.matmul(x.k[..., None, :], s)[..., 0, :])
    s = s + x.k[..., None] * u[..., None, :]
    return torch.matmul(x.q[..., None, :], s)[..., 0, :], s


def recurrent(x: Inputs, s: Tensor, saves: list[int]) -> tuple[Tensor, Tensor, list[Tensor]]:
    """n tokens of one sequence, s [Hv, DK, DV] -> outputs [n, Hv, DV], the state after them, and after the first saves[i]."""
    out, states, many = torch.empty_like(x.v), [], s[None]
    for i in range(out.shape[0]):
        row, many = step(x.rows(slice(i, i + 1)), many)
        out[i] = row[0]
        if i + 1 in saves:
            states.append(many[0])
    return out, many[0], states
