"""The recurrent token mixer: one fused projection, a short convolution, the gated delta rule, a gated norm, a projection."""

from dataclasses import dataclass

import torch
from torch import Tensor

from isotherm.kernels.api import Kernels, Linear
from isotherm.kernels.batch import Batch
from isotherm.kernels.weight import Weight, rows
from isotherm.model.checkpoint import Checkpoint
from isotherm.model.projection import Projection, load_projection, project
from isotherm.model.spec import ModelSpec, OutputGate
from isotherm.model.state import RecurrentState


@dataclass(frozen=True, slots=True)
class DeltaLayer:
    """Gated DeltaNet (Yang et al. 2025, arXiv:2412.06464), as in Qwen3-Next and Qwen3.5.

    project: [2*Hk*DK + 2*Hv*DV + 2*Hv, hidden], rows in the order q, k, v, z, b, a. conv: [channels, width] float32.
    decay: [Hv] float32, -exp(A_log). norm: [DV] float32. gate: the activation of z.
    """

    project: Projection
    conv: Tensor
    decay: Tensor
    dt_bias: Tensor
    norm: Tensor
    out: Linear
    norm_eps: float
    gate: OutputGate = "silu"

    def forward(
        self, kernels: Kernels, batch: Batch, x: Tensor, residual: Tensor | None, state: RecurrentState
    ) -> Tensor:
        """x (normed) and residual [M, hidden] -> residual + mixer(x), or mixer(x) alone, [M, hidden]."""
        shape = state.delta.shape
        channels, values, heads = state.conv.shape.channels, shape.value_heads * shape.value_dim, shape.value_heads
        qkv, z, b, a = project(kernels, x, self.project, [channels, values, heads, heads])
        mixed = kernels.causal_conv(batch, qkv, self.conv, state.conv)
        out = kernels.gated_delta(batch, mixed, b, a, self.decay, self.dt_bias, state.delta)
        gated_norm = kernels.gated_rms_norm if self.gate == "silu" else kernels.sigmoid_gated_rms_norm
        gated = gated_norm(out, z, self.norm, self.norm_eps)
        return kernels.linear(gated, self.out, residual)


def load_delta_layer(checkpoint: Checkpoint, prefix: str, spec: ModelSpec, kernels: Kernels) -> DeltaLayer:
    """Reads `prefix`linear_attn.*."""
    at, shape = f"{prefix}linear_attn.", spec.delta
    parts = _grouped_rows(checkpoint, at, spec) if spec.interleaved_projections else _plain_rows(checkpoint, at, spec)
    values = shape.value_heads * shape.value_dim
    return DeltaLayer(
        project=load_projection(kernels, parts),
        conv=checkpoint.take(f"{at}conv1d.weight", spec.conv_channels, 1, spec.conv_width)[:, 0].float().contiguous(),
        decay=-checkpoint.take(f"{at}A_log", shape.value_heads).double().exp().float(),
        dt_bias=checkpoint.take(f"{at}dt_bias", shape.value_heads).float(),
        norm=checkpoint.take(f"{at}norm.weight", shape.value_dim).float(),
        out=kernels.pack(checkpoint.take_weight(f"{at}out_proj.weight", spec.hidden_size, values)),
        norm_eps=spec.norm_eps,
        gate=spec.output_gate,
    )


def _plain_rows(checkpoint: Checkpoint, at: str, spec: ModelSpec) -> list[Weight]:
    shape, hidden = spec.delta, spec.hidden_size
    return [
        checkpoint.take_weight(f"{at}in_proj_qkv.weight", spec.conv_channels, hidden),
        checkpoint.take_weight(f"{at}in_proj_z.weight", shape.value_heads * shape.value_dim, hidden),
        checkpoint.take_weight(f"{at}in_proj_b.weight", shape.value_heads, hidden),
        checkpoint.take_weight(f"{at}in_proj_a.weight", shape.value_heads, hidden),
    ]


def _grouped_rows(checkpoint: Checkpoint, at: str, spec: ModelSpec) -> list[Weight]:
    """Stored by key head as [q, k, its value heads' v, their z] and [b, a]; each use's rows are gathered."""
    shape, hidden = spec.delta, spec.hidden_size
    group = shape.value_heads // shape.key_heads
    sizes = [shape.key_dim, shape.key_dim, group * shape.value_dim, group * shape.value_dim]
    qkvz = checkpoint.take_weight(f"{at}in_proj_qkvz.weight", shape.key_heads * sum(sizes), hidden)
    ba = checkpoint.take_weight(f"{at}in_proj_ba.weight", 2 * shape.value_heads, hidden)
    wide = torch.arange(shape.key_heads * sum(sizes)).view(shape.key_heads, -1)
    narrow = torch.arange(2 * shape.value_heads).view(shape.key_heads, 2, group)
    return [
        *(rows(qkvz, index.reshape(-1)) for index in torch.split(wide, sizes, dim=1)),
        *(rows(ba, index.reshape(-1)) for index in narrow.unbind(1)),
    ]
