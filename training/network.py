"""The embedded model's network for training: the qwen3_5 text model and its MTP layer, under the names of their checkpoints."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.layers import Context, Layer, Linear, RMSNorm, Shape

__all__ = ["MTP", "Context", "Network", "Shape", "Trunk"]


class Trunk(nn.Module):
    """Embedding, layers and the last norm."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        residual = (2 * shape.num_hidden_layers) ** -0.5
        self.embed_tokens = nn.Embedding(shape.vocab_size, shape.hidden_size)
        nn.init.normal_(self.embed_tokens.weight, std=0.05)
        self.layers = nn.ModuleList(Layer(shape, kind, residual) for kind in shape.layer_types)
        self.norm = RMSNorm(shape.hidden_size, shape.eps)


class MTP(nn.Module):
    """The layer that predicts one token further, from the trunk's last hidden state and the next token's embedding."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.fc = Linear(2 * shape.hidden_size, shape.hidden_size)
        self.pre_fc_norm_embedding = RMSNorm(shape.hidden_size, shape.eps)
        self.pre_fc_norm_hidden = RMSNorm(shape.hidden_size, shape.eps)
        self.layers = nn.ModuleList([Layer(shape, "full_attention", (2 * shape.num_hidden_layers) ** -0.5)])
        self.norm = RMSNorm(shape.hidden_size, shape.eps)

    def forward(self, hidden: Tensor, embedded: Tensor, context: Context) -> Tensor:
        """hidden [B, T, H] after the trunk's last norm, embedded [B, T, H] of the token after each; the normed result."""
        x = torch.cat((self.pre_fc_norm_embedding(embedded), self.pre_fc_norm_hidden(hidden)), dim=-1)
        return self.norm(self.layers[0](self.fc(x), context, "mtp"))


class Network(nn.Module):
    """The whole model; the output matrix is the embedding. `dtype` is that of activations."""

    def __init__(self, shape: Shape, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.shape, self.dtype = shape, dtype
        self.model = Trunk(shape)
        self.mtp = MTP(shape)

    def rope(self, position: Tensor) -> tuple[Tensor, Tensor]:
        """Cosine and sine [B, T, rotary_dim], float32."""
        pairs = torch.arange(0, self.shape.rotary_dim, 2, device=position.device, dtype=torch.float32)
        frequency = 1.0 / self.shape.rope_theta ** (pairs / self.shape.rotary_dim)
        angle = position[..., None].float() * frequency
        angle = torch.cat((angle, angle), dim=-1)
        return angle.cos(), angle.sin()

    def embed(self, tokens: Tensor) -> Tensor:
        """[B, T] -> [B, T, H]."""
        return self.model.embed_tokens(tokens).to(self.dtype)

    def hidden(self, tokens: Tensor, context: Context) -> Tensor:
        """The trunk's hidden states after the last norm [B, T, H]."""
        x = self.embed(tokens)
        for index, layer in enumerate(self.model.layers):
            x = layer(x, context, "" if context.lengths is None else f"layers.{index}")
        return self.model.norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., H] -> [..., V] in the activations' dtype."""
        return F.linear(hidden, self.model.embed_tokens.weight.to(hidden.dtype))
