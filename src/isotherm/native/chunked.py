"""The delta rule in chunks of 64 counted from the segment's first token: what prefill runs."""

import torch
from torch import Tensor
from torch.nn import functional

from isotherm.native.delta_inputs import Inputs

CHUNK = 64


def chunked(x: Inputs, s: Tensor, saves: list[int]) -> tuple[Tensor, Tensor, list[Tensor]]:
    """n tokens of one sequence, s [Hv, DK, DV] -> outputs [n, Hv, DV], the state after them, and after the first saves[i].

    The UT transform of Yang et al. 2024, arXiv:2406.06484, section 3.2, with the decays of arXiv:2412.06464: within a chunk,
    with G the running sum of g and D[i, j] = exp(G_i - G_j) for j <= i,

        (I + tril(beta k k^T * D, -1)) T = I,    U = T (beta v),    W = T (beta exp(G) k),    V = U - W S
        o = exp(G) q S + (q k^T * D) V,    S' = exp(G_last) S + k^T (exp(G_last - G) V)

    As kernels on tensor cores have it, every operand of a product is in bfloat16, W and U are kept in it, sums and S in
    float32. A state inside a chunk is made from that chunk's first rows, and changes nothing else.
    """
    q, k, v = (_rounded(_in_chunks(t)) for t in (x.q, x.k, x.v))  # [Hv, chunks, 64, ...]
    beta, sums = _in_chunks(x.beta), _in_chunks(x.g).cumsum(dim=-1)
    within = (sums[..., :, None] - sums[..., None, :]).tril().exp().tril()
    system = torch.matmul(k, k.transpose(-1, -2)) * within * beta[..., None]
    inverse = torch.linalg.solve_triangular(system.tril(-1), torch.eye(CHUNK), upper=False, unitriangular=True)
    u = _product(inverse, v * beta[..., None])
    w = _product(inverse, k * (beta * sums.exp())[..., None])
    inner = torch.matmul(q, k.transpose(-1, -2)) * within
    outputs, states = [], []
    for i in range(q.shape[1]):
        seen = _rounded(s)
        fresh = _rounded(u[:, i]) - torch.matmul(_rounded(w[:, i]), seen)
        grown = torch.matmul(q[:, i], seen) * sums[:, i].exp()[..., None]
        outputs.append(grown + _product(inner[:, i], fresh))
        for save in saves:
            if 0 < save - i * CHUNK < CHUNK:
                states.append(_after(save - i * CHUNK, k[:, i], sums[:, i], fresh, s))
        s = _after(CHUNK, k[:, i], sums[:, i], fresh, s)
        states += [s] * ((i + 1) * CHUNK in saves)
    out = torch.cat(outputs, dim=1)[:, : x.v.shape[0]]
    return out.transpose(0, 1), s, states


def _after(rows: int, k: Tensor, sums: Tensor, fresh: Tensor, s: Tensor) -> Tensor:
    """The state after the chunk's first `rows`. k, fresh [Hv, 64, D], sums [Hv, 64]."""
    last = sums[:, rows - 1, None]
    added = fresh[:, :rows] * (last - sums[:, :rows]).exp()[..., None]
    return s * last.exp()[..., None] + _product(k[:, :rows].transpose(-1, -2), added)


def _product(left: Tensor, right: Tensor) -> Tensor:
    """Both rounded to bfloat16, summed in float32."""
    return torch.matmul(_rounded(left), _rounded(right))


def _rounded(x: Tensor) -> Tensor:
    return x.bfloat16().float()


def _in_chunks(x: Tensor) -> Tensor:
    """[n, Hv, ...] -> [Hv, chunks, 64, ...], the last chunk filled with zeros, which leave the state as it is."""
    x = x.transpose(0, 1)
    pad = [0, 0] * (x.dim() - 2) + [0, -x.shape[1] % CHUNK]
    x = functional.pad(x, pad)
    return x.reshape(x.shape[0], -1, CHUNK, *x.shape[2:])
