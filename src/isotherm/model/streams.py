"""Hyper-connections: one row mixed from all residual streams for a layer to read, and a gate for each to take its result."""

from dataclasses import dataclass

import torch
from torch import Tensor

from isotherm.kernels.api import Kernels, Linear
from isotherm.model.checkpoint import Checkpoint
from isotherm.model.spec import ModelSpec


@dataclass(frozen=True, slots=True)
class StreamMixer:
    """norm: [S*H] float32, one added. down: [rank + S, S*H], the mixer's rows and then the gates', which the last mixer has not.

    up: [S*H, rank].
    """

    norm: Tensor
    down: Linear
    up: Linear
    streams: int
    rank: int
    eps: float

    def forward(self, kernels: Kernels, x: Tensor) -> tuple[Tensor, Tensor]:
        """x [M, S*H] -> the mixed row [M, H], and the gates before their activation [M, S], or [M, 0]."""
        normed = kernels.stream_norm(x, self.norm, self.eps, self.streams)
        low, gate = torch.split(kernels.linear(normed, self.down), [self.rank, self.down.n - self.rank], dim=1)
        weights = kernels.linear(kernels.scaled_silu(low, self.streams), self.up)
        return kernels.stream_mix(normed, weights, self.streams), gate


def load_stream_mixer(checkpoint: Checkpoint, at: str, spec: ModelSpec, kernels: Kernels, gated: bool) -> StreamMixer:
    """Reads `at`hc_norm, input_mix_weight_down and _up, and block_inject_weight where `gated`."""
    assert spec.streams is not None
    count, rank = spec.streams.count, spec.streams.rank
    wide = count * spec.hidden_size
    down = [checkpoint.take(f"{at}input_mix_weight_down.weight", rank, wide)]
    if gated:
        down.append(checkpoint.take(f"{at}block_inject_weight.weight", count, wide))
    return StreamMixer(
        norm=checkpoint.take(f"{at}hc_norm.weight", wide).float() + 1.0,
        down=kernels.pack(torch.cat(down)),
        up=kernels.pack(checkpoint.take(f"{at}input_mix_weight_up.weight", wide, rank)),
        streams=count,
        rank=rank,
        eps=spec.norm_eps,
    )
