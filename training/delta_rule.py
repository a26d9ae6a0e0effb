"""The gated delta rule over packed documents, in plain PyTorch: chunks of 64 in parallel, one small matmul a chunk in sequence.

Within a chunk the updates are a unit lower-triangular system (Yang et al., "Gated Delta Networks", 2024). Its solution makes a
chunk an affine map of the state, S' = M S + B, so that only a chain of 128 x 128 products is left to do in order.
"""

import torch
from torch import Tensor

CHUNK = 64


def _advance(matrices: Tensor, added: Tensor, state: Tensor, order: range, out: Tensor) -> None:
    """out[i] = the state before step i; each step makes it matrices[i] @ state + added[i]. All [L, G, ...]."""
    for i in order:
        out[i].copy_(state)
        state = torch.baddbmm(added[i], matrices[i], state)


def _two_levels(matrices: Tensor, added: Tensor, reverse: bool) -> Tensor:
    """The states before each step of a chain of affine maps, from zero.

    matrices [L, P, G, K, K], added [L, P, G, K, V] -> the latter's shape.

    Step (l, p) comes at place p L + l. The chain is cut into P parts whose L maps are composed side by side, then the parts
    are chained, then each part is walked: L + P + L small products in order instead of L P.
    """
    length, parts = added.shape[:2]
    order, places = range(length), range(parts)
    if reverse:
        order, places = order[::-1], places[::-1]
    flat, addends = matrices.flatten(1, 2), added.flatten(1, 2)
    whole, sums = flat[order[0]], addends[order[0]]
    for i in order[1:]:
        whole, sums = flat[i] @ whole, torch.baddbmm(addends[i], flat[i], sums)
    starts = torch.empty_like(added[0])
    _advance(whole.view_as(matrices[0]), sums.view_as(added[0]), torch.zeros_like(added[0, 0]), places, starts)
    out = torch.empty_like(added)
    _advance(flat, addends, starts.flatten(0, 1), order, out.view(length, -1, *added.shape[3:]))
    return out


@torch.library.custom_op("isotherm_training::affine_scan", mutates_args=())
def affine_scan(transition: Tensor, increment: Tensor) -> Tensor:
    """States before each chunk: the first is 0, the next is transition @ state + increment.

    transition [L, P, G, K, K], increment [L, P, G, K, V] -> [L, P, G, K, V], float32; see `_two_levels` for the order.
    """
    return _two_levels(transition, increment, reverse=False)


@affine_scan.register_fake
def _(transition: Tensor, increment: Tensor) -> Tensor:
    return torch.empty_like(increment)


@torch.library.custom_op("isotherm_training::affine_scan_backward", mutates_args=())
def affine_scan_backward(transition: Tensor, gradient: Tensor) -> Tensor:
    """The gradient of `increment`: what the states after each chunk owe to it; same shapes."""
    return _two_levels(transition.transpose(-1, -2), gradient, reverse=True)


@affine_scan_backward.register_fake
def _(transition: Tensor, gradient: Tensor) -> Tensor:
    return torch.empty_like(gradient)


def _save(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]
    ctx.save_for_backward(inputs[0], output)


def _backward(ctx, gradient: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[no-untyped-def]
    transition, states = ctx.saved_tensors
    increment = affine_scan_backward(transition, gradient.contiguous())
    return increment @ states.transpose(-1, -2), increment


affine_scan.register_autograd(_backward, setup_context=_save)


class UnitTriangularInverse(torch.autograd.Function):
    """(I + A)^-1 for a strictly lower triangular A [..., 64, 64], float32, by doubling the size of inverted diagonal blocks.

    It is as stable as substitution, which a power series is not when keys repeat.
    """

    @staticmethod
    def forward(ctx, system: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        row = torch.arange(system.shape[-1], device=system.device)
        inverse = torch.eye(system.shape[-1], dtype=system.dtype, device=system.device).expand_as(system)
        size = 1
        while size < system.shape[-1]:
            pair = row // (2 * size)
            half = row // size % 2
            corner = (pair[:, None] == pair[None, :]) & (half[:, None] == 1) & (half[None, :] == 0)
            block = torch.where(corner, system, 0.0)
            inverse = inverse - (block if size == 1 else inverse @ block @ inverse)
            size *= 2
        ctx.save_for_backward(inverse)
        return inverse

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        (inverse,) = ctx.saved_tensors
        transposed = inverse.transpose(-1, -2)
        return -(transposed @ gradient @ transposed).tril(-1)


def _chunks(x: Tensor) -> Tensor:
    """[B, T, H, ...] -> [B, H, T/64, 64, ...]."""
    batch, length, heads = x.shape[:3]
    x = x.reshape(batch, length // CHUNK, CHUNK, heads, *x.shape[3:])
    return x.movedim(3, 1)


def l2_normalise(x: Tensor) -> Tensor:
    """x over its length in the last dimension, float32."""
    x = x.float()
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6)


def chunk_parts(q: Tensor, k: Tensor, v: Tensor, decay: Tensor, beta: Tensor) -> tuple[Tensor, ...]:
    """What a chunk contributes, before any state is known.

    q, k [B, T, H, K], v [B, T, H, V], decay (log) and beta [B, T, H]; T a multiple of 64. Returns (queries that read the state
    [B, H, N, 64, K], attention within the chunk [B, H, N, 64, 64], u [B, H, N, 64, V], w [B, H, N, 64, K], transition
    [B, H, N, K, K], increment [B, H, N, K, V]), float32.
    """
    q, k, v = _chunks(l2_normalise(q) * q.shape[-1] ** -0.5), _chunks(l2_normalise(k)), _chunks(v.float())
    beta = _chunks(beta.float())[..., None]
    total = _chunks(decay.float()).cumsum(-1)
    row = torch.arange(CHUNK, device=q.device)
    causal = row[:, None] >= row[None, :]
    between = torch.where(causal, total[..., :, None] - total[..., None, :], float("-inf")).exp()
    keys = k.transpose(-1, -2)
    system = torch.where(row[:, None] > row[None, :], (k @ keys) * beta * between, 0.0)
    inverse = UnitTriangularInverse.apply(system)
    grown = total[..., None].exp()
    u = inverse @ (v * beta)
    w = inverse @ (k * beta * grown)
    late = (k * (total[..., -1:] - total)[..., None].exp()).transpose(-1, -2)
    whole = total[..., -1].exp()[..., None, None]
    transition = whole * torch.eye(k.shape[-1], device=k.device) - late @ w
    return q * grown, (q @ keys) * between, u, w, transition, late @ u


def combine(reads: Tensor, within: Tensor, u: Tensor, w: Tensor, states: Tensor) -> Tensor:
    """The outputs [B, T, H, V] from a chunk's parts and the states [B, H, N, K, V] before each chunk."""
    out = reads @ states + within @ (u - w @ states)
    batch, heads, count, chunk, width = out.shape
    return out.permute(0, 2, 3, 1, 4).reshape(batch, count * chunk, heads, width)


def part_length(count: int) -> int:
    """How many chunks a part of the scan has: the largest power of two that divides their number, up to its root."""
    length = 1
    while count % (2 * length) == 0 and 4 * length * length <= count:
        length *= 2
    return length


def gated_delta_rule(
    q: Tensor, k: Tensor, v: Tensor, decay: Tensor, beta: Tensor, fresh: Tensor
) -> tuple[Tensor, Tensor]:
    """Outputs [B, T, H, V] and the last state [B, H, K, V]. fresh [B, T/64]: the chunk begins a document, with no state."""
    reads, within, u, w, transition, increment = chunk_parts(q, k, v, decay, beta)
    batch, heads, count = increment.shape[:3]
    keep = torch.ones_like(fresh, dtype=torch.float32)
    keep[:, :-1] = (~fresh[:, 1:]).float()  # a chunk's result is dropped where the next chunk is another document
    keep = keep[:, None, :, None, None]
    length = part_length(count)
    moved = [
        (x * keep).unflatten(2, (count // length, length)).permute(3, 2, 0, 1, 4, 5).flatten(2, 3).contiguous()
        for x in (transition, increment)
    ]
    states = affine_scan(*moved)
    last = torch.baddbmm(moved[1][-1, -1], moved[0][-1, -1], states[-1, -1]).unflatten(0, (batch, heads))
    states = states.unflatten(2, (batch, heads)).permute(2, 3, 1, 0, 4, 5).flatten(2, 3)
    return combine(reads, within, u, w, states), last
