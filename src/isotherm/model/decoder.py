"""The decoder: embed, layers, final norm, logits. One code path for prefill, decode and verify."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from isotherm.kernels.api import Kernels, Linear, RopeTable
from isotherm.kernels.batch import Batch
from isotherm.kernels.state import IndexedStore, KVStore
from isotherm.model.attention_layer import AttentionLayer
from isotherm.model.delta_layer import DeltaLayer
from isotherm.model.mlp import Mlp
from isotherm.model.moe import Moe
from isotherm.model.spec import ModelSpec
from isotherm.model.state import ModelState, RecurrentState
from isotherm.model.stream_layer import StreamLayer
from isotherm.model.streams import StreamMixer

Watcher = Callable[[int, str, Tensor], None]
"""Called as watcher(layer, name, rows) once rows [M, hidden] are made: (-1, "embedding"), then (layer, "hidden") for each."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One decoder layer: norm, mixer, norm, feed-forward; the residual is added, and rounded, by each last projection."""

    mixer_norm: Tensor
    mixer: DeltaLayer | AttentionLayer
    feed_norm: Tensor
    feed: Mlp | Moe

    def forward(
        self, kernels: Kernels, batch: Batch, x: Tensor, eps: float, rope: RopeTable, state: RecurrentState | KVStore
    ) -> Tensor:
        """x [M, hidden] -> [M, hidden]."""
        normed = kernels.rms_norm(x, self.mixer_norm, eps)
        if isinstance(self.mixer, DeltaLayer):
            assert isinstance(state, RecurrentState)
            x = self.mixer.forward(kernels, batch, normed, x, state)
        else:
            assert isinstance(state, KVStore)
            x = self.mixer.forward(kernels, batch, normed, x, rope, state)
        return self.feed.forward(kernels, kernels.rms_norm(x, self.feed_norm, eps), x)


@dataclass(frozen=True, slots=True)
class Decoder:
    """A loaded model. table: the embedding [vocabulary, hidden]; head: the output projection, the same object when tied.

    With residual streams (Flash-Next) hidden rows are [M, S*H], the embedding in each stream at first, and a mixer of the streams
    stands in place of the final norm.
    """

    spec: ModelSpec
    kernels: Kernels
    table: Linear
    layers: tuple[Layer | StreamLayer, ...]
    norm: Tensor | StreamMixer
    head: Linear
    rope: RopeTable

    def forward(self, batch: Batch, tokens: Tensor, state: ModelState, watch: Watcher | None = None) -> Tensor:
        """tokens [M] int32 -> hidden rows [M, hidden], before the final norm. Writes the state that the batch names.

        watch: reads every layer's rows and changes nothing.
        """
        x = self.kernels.embed(tokens, self.table)
        if self.spec.streams is not None:
            x = x.repeat(1, self.spec.streams.count)
        if watch is not None:
            watch(-1, "embedding", x)
        for index, (layer, kept) in enumerate(zip(self.layers, state.layers, strict=True)):
            if isinstance(layer, StreamLayer):
                assert not isinstance(kept, KVStore)
                x = layer.forward(self.kernels, batch, tokens, x, self.rope, kept)
            else:
                assert not isinstance(kept, IndexedStore)
                x = layer.forward(self.kernels, batch, x, self.spec.norm_eps, self.rope, kept)
            if watch is not None:
                watch(index, "hidden", x)
        return x

    def normed(self, hidden: Tensor) -> Tensor:
        """hidden [R, hidden] -> the rows after the final norm, which the head and the drafter read."""
        if isinstance(self.norm, StreamMixer):
            return self.norm.forward(self.kernels, hidden)[0]
        return self.kernels.rms_norm(hidden, self.norm, self.spec.norm_eps)

    def logits(self, hidden: Tensor) -> Tensor:
        """hidden [R, hidden] -> [R, vocabulary] float32."""
        return self.kernels.logits(self.normed(hidden), self.head)
