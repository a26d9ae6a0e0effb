"""The layers of the embedded model's network, under the names of its checkpoint, over packed documents."""

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.flex_attention import flex_attention

from training.delta_rule import gated_delta_rule


@dataclass(frozen=True, slots=True)
class Shape:
    """The numbers of config.json."""

    vocab_size: int = 6144
    hidden_size: int = 256
    intermediate_size: int = 640
    num_hidden_layers: int = 12
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    head_dim: int = 128
    linear_heads: int = 2
    linear_head_dim: int = 128
    conv_kernel: int = 4
    rotary_dim: int = 32
    rope_theta: float = 10_000_000.0
    eps: float = 1e-6
    full_attention_interval: int = 4

    @property
    def layer_types(self) -> tuple[str, ...]:
        """Three linear layers, then one attention layer, and so on."""
        return tuple(
            "full_attention" if (i + 1) % self.full_attention_interval == 0 else "linear_attention"
            for i in range(self.num_hidden_layers)
        )


@dataclass
class Context:
    """What the layers know of the packing. document, position [B, T]; fresh [B, T/64]: the chunk begins a document.

    mask: a flex-attention block mask on the GPU, a dense boolean [B, 1, T, T] elsewhere. lengths [B]: real tokens of each row
    when rows are padded (prefill for decoding), else None. cache: filled by prefill with each layer's state.
    """

    document: Tensor
    position: Tensor
    fresh: Tensor
    mask: object
    rope: tuple[Tensor, Tensor]
    lengths: Tensor | None = None
    cache: dict[str, tuple[Tensor, ...]] = field(default_factory=dict)


class Linear(nn.Module):
    """x W^T with the float32 weight rounded to the activations' dtype."""

    def __init__(self, inputs: int, outputs: int, scale: float = 1.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) * scale * inputs**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight.to(x.dtype))


class RMSNorm(nn.Module):
    """x / rms(x) * (1 + weight), computed in float32."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps)
        return (y * (1.0 + self.weight)).to(x.dtype)


class GatedRMSNorm(nn.Module):
    """x / rms(x) * weight * silu(gate), computed in float32."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor, gate: Tensor) -> Tensor:
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight
        return (y * F.silu(gate.float())).to(gate.dtype)


class Convolution(nn.Module):
    """Depthwise causal convolution, then silu; the history stops at a document's start."""

    def __init__(self, channels: int, kernel: int) -> None:
        super().__init__()
        self.weight = nn.Parameter((torch.rand(channels, 1, kernel) * 2 - 1) * kernel**-0.5)

    def forward(self, x: Tensor, document: Tensor) -> Tensor:
        """x [B, T, C], document [B, T] -> [B, T, C]."""
        kernel = self.weight.shape[-1]
        total = x.float() * self.weight[:, 0, -1]
        for back in range(1, kernel):
            past = F.pad(x[:, :-back], (0, 0, back, 0))
            same = F.pad(document[:, :-back], (back, 0), value=-1) == document
            total = total + torch.where(same[..., None], past.float() * self.weight[:, 0, -1 - back], 0.0)
        return F.silu(total).to(x.dtype)


class GatedDeltaNet(nn.Module):
    """The linear-attention mixer; equal numbers of key and value heads."""

    def __init__(self, shape: Shape, residual: float) -> None:
        super().__init__()
        self.heads, self.width = shape.linear_heads, shape.linear_head_dim
        inner = self.heads * self.width
        self.in_proj_qkv = Linear(shape.hidden_size, 3 * inner)
        self.in_proj_z = Linear(shape.hidden_size, inner)
        self.in_proj_b = Linear(shape.hidden_size, self.heads)
        self.in_proj_a = Linear(shape.hidden_size, self.heads)
        self.conv1d = Convolution(3 * inner, shape.conv_kernel)
        step = torch.exp(torch.empty(self.heads).uniform_(-6.9, -2.3))  # softplus(dt_bias), 0.001 to 0.1
        self.dt_bias = nn.Parameter(step + torch.log(-torch.expm1(-step)))
        self.A_log = nn.Parameter(torch.empty(self.heads).uniform_(1, 16).log())
        self.norm = GatedRMSNorm(self.width, shape.eps)
        self.out_proj = Linear(inner, shape.hidden_size, residual)

    def inputs(self, x: Tensor, mixed: Tensor) -> tuple[Tensor, ...]:
        """q, k, v [B, T, H, D], log decay and beta [B, T, H] from the layer's input and the convolved projection."""
        q, k, v = (part.unflatten(-1, (self.heads, self.width)) for part in mixed.chunk(3, dim=-1))
        beta = self.in_proj_b(x).float().sigmoid()
        decay = -self.A_log.exp() * F.softplus(self.in_proj_a(x).float() + self.dt_bias)
        return q, k, v, decay, beta

    def outputs(self, x: Tensor, mixed: Tensor) -> Tensor:
        """The gated norm and the output projection; x the layer's input, mixed [B, T, H, D]."""
        gate = self.in_proj_z(x).unflatten(-1, (self.heads, self.width))
        return self.out_proj(self.norm(mixed, gate).flatten(-2))

    def forward(self, x: Tensor, context: Context, name: str) -> Tensor:
        projected = self.in_proj_qkv(x)
        q, k, v, decay, beta = self.inputs(x, self.conv1d(projected, context.document))
        if context.lengths is not None:  # padding neither decays nor writes the state
            real = (context.position < context.lengths[:, None])[..., None]
            decay, beta = decay * real, beta * real
        mixed, last = gated_delta_rule(q, k, v, decay, beta, context.fresh)
        if context.lengths is not None:
            taps = self.conv1d.weight.shape[-1] - 1
            index = context.lengths[:, None] - taps + torch.arange(taps, device=x.device)
            history = projected.gather(1, index.clamp(min=0)[..., None].expand(-1, -1, projected.shape[-1]))
            context.cache[name] = (torch.where((index >= 0)[..., None], history, 0.0).to(x.dtype), last)
        return self.outputs(x, mixed)


def rotate(x: Tensor, rope: tuple[Tensor, Tensor]) -> Tensor:
    """Rotary embedding of the first `rotary_dim` of x [B, H, T, D]; rope: cosine and sine [B, T, rotary_dim], float32."""
    cosine, sine = (part[:, None] for part in rope)
    width = cosine.shape[-1]
    y = x[..., :width].float()
    a, b = y.chunk(2, dim=-1)
    turned = y * cosine + torch.cat((-b, a), dim=-1) * sine
    return torch.cat((turned.to(x.dtype), x[..., width:]), dim=-1)


def attend(q: Tensor, k: Tensor, v: Tensor, mask: object) -> Tensor:
    """Attention [B, H, T, D] under a flex block mask or a dense boolean mask."""
    if isinstance(mask, Tensor):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    return flex_attention(q, k, v, block_mask=mask, enable_gqa=True)  # type: ignore[arg-type,return-value]


class Attention(nn.Module):
    """Gated attention with per-head norms and a partial rotary embedding."""

    def __init__(self, shape: Shape, residual: float) -> None:
        super().__init__()
        self.width = shape.head_dim
        query, value = shape.num_attention_heads * self.width, shape.num_key_value_heads * self.width
        self.q_proj = Linear(shape.hidden_size, 2 * query)
        self.k_proj = Linear(shape.hidden_size, value)
        self.v_proj = Linear(shape.hidden_size, value)
        self.o_proj = Linear(query, shape.hidden_size, residual)
        self.q_norm = RMSNorm(self.width, shape.eps)
        self.k_norm = RMSNorm(self.width, shape.eps)

    def inputs(self, x: Tensor, rope: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """q [B, H, T, D], k and v [B, KV, T, D], gate [B, T, H, D]."""
        q, gate = self.q_proj(x).unflatten(-1, (-1, 2 * self.width)).chunk(2, dim=-1)
        k = self.k_proj(x).unflatten(-1, (-1, self.width))
        v = self.v_proj(x).unflatten(-1, (-1, self.width)).transpose(1, 2)
        return rotate(self.q_norm(q).transpose(1, 2), rope), rotate(self.k_norm(k).transpose(1, 2), rope), v, gate

    def outputs(self, mixed: Tensor, gate: Tensor) -> Tensor:
        """mixed [B, H, T, D]."""
        return self.o_proj((mixed.transpose(1, 2) * gate.sigmoid()).flatten(-2))

    def forward(self, x: Tensor, context: Context, name: str) -> Tensor:
        q, k, v, gate = self.inputs(x, context.rope)
        if context.lengths is not None:
            context.cache[name] = (k, v)
        return self.outputs(attend(q, k, v, context.mask), gate)


class MLP(nn.Module):
    """down(silu(gate(x)) * up(x))."""

    def __init__(self, shape: Shape, residual: float) -> None:
        super().__init__()
        self.gate_proj = Linear(shape.hidden_size, shape.intermediate_size)
        self.up_proj = Linear(shape.hidden_size, shape.intermediate_size)
        self.down_proj = Linear(shape.intermediate_size, shape.hidden_size, residual)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """Mixer and MLP, each normalised first and added to the stream."""

    def __init__(self, shape: Shape, kind: str, residual: float) -> None:
        super().__init__()
        self.kind = kind
        if kind == "linear_attention":
            self.linear_attn = GatedDeltaNet(shape, residual)
        else:
            self.self_attn = Attention(shape, residual)
        self.mlp = MLP(shape, residual)
        self.input_layernorm = RMSNorm(shape.hidden_size, shape.eps)
        self.post_attention_layernorm = RMSNorm(shape.hidden_size, shape.eps)

    def forward(self, x: Tensor, context: Context, name: str) -> Tensor:
        mixer = self.linear_attn if self.kind == "linear_attention" else self.self_attn
        x = x + mixer(self.input_layernorm(x), context, name)
        return x + self.mlp(self.post_attention_layernorm(x))
