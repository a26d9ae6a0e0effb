"""The n-gram embedding of a layer (PLE): hashed n-grams of the tokens, gated into every stream, and convolved."""

from dataclasses import dataclass

import torch
from torch import Tensor

from isotherm.core.errors import CheckpointError
from isotherm.kernels.api import Kernels, Linear
from isotherm.kernels.batch import Batch
from isotherm.kernels.ngram.torch_form import NgramHash
from isotherm.model.checkpoint import Checkpoint
from isotherm.model.ngram import NgramTable
from isotherm.model.spec import ModelSpec, NgramSpec
from isotherm.model.state import NgramState


@dataclass(frozen=True, slots=True)
class NgramLayer:
    """project: [S*H + H, dim], the streams' keys, then the value. norms: [S*H] float32, one added. conv: [S*H, width] float32."""

    hashing: NgramHash
    table: NgramTable
    project: Linear
    key_norm: Tensor
    query_norm: Tensor
    conv_norm: Tensor
    conv: Tensor
    streams: int
    eps: float

    def forward(self, kernels: Kernels, batch: Batch, tokens: Tensor, x: Tensor, state: NgramState) -> Tensor:
        """tokens [M] int32, x [M, S*H] -> x + what the n-grams that end at each row add [M, S*H]."""
        wide = x.shape[1]
        embedded = kernels.ngram_rows(batch, tokens, self.hashing, self.table, state.tokens)
        key, value = torch.split(kernels.linear(embedded, self.project), [wide, wide // self.streams], dim=1)
        key = kernels.stream_norm(key, self.key_norm, self.eps, self.streams)
        query = kernels.stream_norm(x, self.query_norm, self.eps, self.streams)
        gated = kernels.stream_gate(key, query, value, self.streams)
        normed = kernels.stream_norm(gated, self.conv_norm, self.eps, self.streams)
        return kernels.stream_sum(x, gated, kernels.causal_conv(batch, normed, self.conv, state.conv))


def load_ngram_layer(
    checkpoint: Checkpoint, at: str, ngram: NgramSpec, spec: ModelSpec, kernels: Kernels
) -> NgramLayer:
    """Reads `at`* ("layers.N.ple."). The table stays on disk."""
    assert spec.streams is not None
    streams, hidden = spec.streams.count, spec.hidden_size
    wide = streams * hidden

    def norm(name: str) -> Tensor:
        return checkpoint.take(f"{at}{name}.weight", wide).float() + 1.0

    project = [
        checkpoint.take(f"{at}key_proj.weight", wide, ngram.dim),
        checkpoint.take(f"{at}value_proj.weight", hidden, ngram.dim),
    ]
    return NgramLayer(
        hashing=_hashing(checkpoint, f"{at}ple_embedding.", ngram),
        table=NgramTable(_shards(checkpoint, f"{at}ple_embedding.ngram_embedding.", ngram), kernels.dtype),
        project=kernels.pack(torch.cat(project)),
        key_norm=norm("norm_key"),
        query_norm=norm("norm_query"),
        conv_norm=norm("norm_conv"),
        conv=checkpoint.take(f"{at}conv1d.weight", wide, 1, ngram.conv_width)[:, 0].float().contiguous(),
        streams=streams,
        eps=spec.norm_eps,
    )


def _hashing(checkpoint: Checkpoint, at: str, ngram: NgramSpec) -> NgramHash:
    """The numbers that config.json gives, or the checkpoint's own where it holds them."""
    offsets = [0]
    for size in ngram.sizes[:-1]:
        offsets.append(offsets[-1] + size)

    def numbers(name: str, given: tuple[int, ...]) -> tuple[int, ...]:
        return checkpoint.take_integers(f"{at}{name}", len(given)) if f"{at}{name}" in checkpoint else given

    return NgramHash(
        numbers("layer_multipliers", ngram.multipliers),
        numbers("ngram_heads_vocab_sizes", ngram.sizes),
        numbers("ngram_heads_offsets", tuple(offsets)),
        ngram.end,
    )


def _shards(checkpoint: Checkpoint, at: str, ngram: NgramSpec) -> tuple[Tensor, ...]:
    columns = ngram.dim // len(ngram.sizes)
    if checkpoint.is_fp8(f"{at}weight") or checkpoint.is_fp8(f"{at}shard_0.weight"):
        raise CheckpointError(f"{checkpoint.folder}: tensors {at}* are in FP8, which n-gram tables cannot be yet")
    if f"{at}weight" in checkpoint:
        return (checkpoint.take_mapped(f"{at}weight", ngram.rows, columns),)
    length = -(-ngram.rows // ngram.shards)
    sizes = [min(length, ngram.rows - first) for first in range(0, ngram.rows, length)]
    return tuple(checkpoint.take_mapped(f"{at}shard_{index}.weight", size, columns) for index, size in enumerate(sizes))
