"""Muon for the layers' matrices, AdamW for the rest."""

import torch
from torch import Tensor, nn


def orthogonalise(matrices: Tensor) -> Tensor:
    """Each of [N, R, C] brought near the closest orthogonal matrix, by five steps of a quintic Newton-Schulz iteration.

    Coefficients: Jordan et al., "Muon", 2024.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    x = matrices.to(torch.bfloat16)
    tall = x.shape[-2] > x.shape[-1]
    x = x.mT if tall else x
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised; matrices of one shape go together."""

    def __init__(
        self, params: list[nn.Parameter], lr: float, momentum: float = 0.95, weight_decay: float = 0.0
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            shapes: dict[torch.Size, list[nn.Parameter]] = {}
            for parameter in group["params"]:
                shapes.setdefault(parameter.shape, []).append(parameter)
            for shape, parameters in shapes.items():
                buffers = [self.state[p].setdefault("momentum", torch.zeros_like(p)) for p in parameters]
                gradients = [p.grad for p in parameters]
                torch._foreach_lerp_(buffers, gradients, 1 - group["momentum"])
                ahead = torch._foreach_lerp(gradients, buffers, group["momentum"])
                update = orthogonalise(torch.stack(ahead)).float()
                scale = group["lr"] * max(1.0, shape[0] / shape[1]) ** 0.5
                torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
                torch._foreach_add_(parameters, list(update.unbind()), alpha=-scale)


def make_optimizers(network: nn.Module, muon_lr: float, adam_lr: float) -> list[torch.optim.Optimizer]:
    """Muon on matrices within layers, AdamW on embeddings, norms, convolutions and the narrow projections."""
    matrices, others = [], []
    for name, parameter in network.named_parameters():
        wide = parameter.ndim == 2 and min(parameter.shape) >= 16 and "embed_tokens" not in name
        (matrices if wide else others).append(parameter)
    fused = others[0].is_cuda
    return [
        Muon(matrices, muon_lr, weight_decay=0.05),
        torch.optim.AdamW(others, adam_lr, betas=(0.9, 0.95), eps=1e-10, weight_decay=0.0, fused=fused),
    ]
