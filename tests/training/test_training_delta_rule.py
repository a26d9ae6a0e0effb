"""The chunked gated delta rule against one step a token."""

import pytest
import torch
from torch import Tensor
from training.delta_rule import CHUNK, UnitTriangularInverse, gated_delta_rule, l2_normalise, part_length


def one_step_a_token(
    q: Tensor, k: Tensor, v: Tensor, decay: Tensor, beta: Tensor, fresh: Tensor
) -> tuple[Tensor, Tensor]:
    q, k, v = l2_normalise(q) * q.shape[-1] ** -0.5, l2_normalise(k), v.float()
    state = torch.zeros(q.shape[0], q.shape[2], k.shape[-1], v.shape[-1])
    outputs = []
    for t in range(q.shape[1]):
        if t % CHUNK == 0:
            state = torch.where(fresh[:, t // CHUNK, None, None, None], 0.0, state)
        state = state * decay[:, t].exp()[..., None, None]
        update = (v[:, t] - (state * k[:, t, ..., None]).sum(-2)) * beta[:, t, :, None]
        state = state + k[:, t, ..., None] * update[..., None, :]
        outputs.append((state * q[:, t, ..., None]).sum(-2))
    return torch.stack(outputs, 1), state


def inputs(chunks: int, seed: int = 0) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    shape = (2, chunks * CHUNK, 2, 8)
    q, k, v = (torch.randn(shape, generator=generator, requires_grad=True) for _ in range(3))
    decay = (-0.3 * torch.rand(shape[:3], generator=generator)).requires_grad_()
    beta = torch.rand(shape[:3], generator=generator).requires_grad_()
    fresh = torch.rand(2, chunks, generator=generator) < 0.3
    fresh[:, 0] = True
    return q, k, v, decay, beta, fresh


@pytest.mark.parametrize("chunks", [1, 3, 4, 16])
def test_chunks_give_what_single_steps_give_across_documents(chunks: int) -> None:
    *values, fresh = inputs(chunks)
    for mine, theirs in zip(gated_delta_rule(*values, fresh), one_step_a_token(*values, fresh), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("chunks", [2, 4])
def test_gradients_agree_with_those_of_single_steps(chunks: int) -> None:
    *values, fresh = inputs(chunks, seed=1)
    direction = torch.randn(2, chunks * CHUNK, 2, 8)
    mine, theirs = (
        torch.autograd.grad((form(*values, fresh)[0] * direction).sum(), values)
        for form in (gated_delta_rule, one_step_a_token)
    )
    for a, b in zip(mine, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-5)


def test_the_inverse_is_exact_when_every_key_is_the_same() -> None:
    system = torch.ones(CHUNK, CHUNK, dtype=torch.float64).tril(-1)
    inverse = UnitTriangularInverse.apply(system)
    torch.testing.assert_close(
        inverse @ (system + torch.eye(CHUNK, dtype=torch.float64)), torch.eye(CHUNK, dtype=torch.float64)
    )


@pytest.mark.parametrize(("count", "length"), [(1, 1), (3, 1), (4, 2), (64, 8), (512, 16)])
def test_a_scan_is_cut_into_parts_near_the_root_of_its_length(count: int, length: int) -> None:
    assert part_length(count) == length
