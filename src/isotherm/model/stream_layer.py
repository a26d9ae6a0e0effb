"""A decoder layer over residual streams: n-grams, then mixer and feed-forward, each between a read and a write of all."""

from dataclasses import dataclass

from torch import Tensor

from isotherm.kernels.api import Kernels, RopeTable
from isotherm.kernels.batch import Batch
from isotherm.kernels.state import IndexedStore
from isotherm.model.checkpoint import Checkpoint
from isotherm.model.delta_layer import DeltaLayer, load_delta_layer
from isotherm.model.indexed_layer import IndexedLayer, load_indexed_layer
from isotherm.model.moe import Moe, load_moe
from isotherm.model.ngram_layer import NgramLayer, load_ngram_layer
from isotherm.model.spec import LayerSpec, ModelSpec
from isotherm.model.state import RecurrentState
from isotherm.model.streams import StreamMixer, load_stream_mixer


@dataclass(frozen=True, slots=True)
class StreamLayer:
    """mixer_streams, feed_streams: what the mixer and the feed-forward read. ngram: None but for a few layers."""

    ngram: NgramLayer | None
    mixer_streams: StreamMixer
    mixer: DeltaLayer | IndexedLayer
    feed_streams: StreamMixer
    feed: Moe

    def forward(
        self,
        kernels: Kernels,
        batch: Batch,
        tokens: Tensor,
        x: Tensor,
        rope: RopeTable,
        state: RecurrentState | IndexedStore,
    ) -> Tensor:
        """tokens [M] int32, x [M, S*H] -> [M, S*H]."""
        if self.ngram is not None:
            assert isinstance(state, RecurrentState) and state.ngram is not None
            x = self.ngram.forward(kernels, batch, tokens, x, state.ngram)
        mixed, gate = self.mixer_streams.forward(kernels, x)
        if isinstance(self.mixer, DeltaLayer):
            assert isinstance(state, RecurrentState)
            y = self.mixer.forward(kernels, batch, mixed, None, state)
        else:
            assert isinstance(state, IndexedStore)
            y = self.mixer.forward(kernels, batch, mixed, rope, state)
        x = kernels.stream_add(x, y, gate)
        mixed, gate = self.feed_streams.forward(kernels, x)
        return kernels.stream_add(x, self.feed.forward(kernels, mixed, mixed.new_zeros(mixed.shape)), gate)


def load_stream_layer(checkpoint: Checkpoint, index: int, spec: ModelSpec, kernels: Kernels) -> StreamLayer:
    """Reads layers.`index`.*"""
    return load_stream_layer_of(checkpoint, index, spec.layers[index], spec, kernels)


def load_stream_layer_of(
    checkpoint: Checkpoint, index: int, layer: LayerSpec, spec: ModelSpec, kernels: Kernels
) -> StreamLayer:
    """As load_stream_layer, of a layer that need not be the model's own."""
    at = f"layers.{index}."
    assert layer.moe is not None
    load_mixer = load_indexed_layer if layer.mixer == "indexed_attention" else load_delta_layer
    return StreamLayer(
        ngram=load_ngram_layer(checkpoint, f"{at}ple.", layer.ngram, spec, kernels) if layer.ngram else None,
        mixer_streams=load_stream_mixer(checkpoint, f"{at}attn_hyper_connection.", spec, kernels, gated=True),
        mixer=load_mixer(checkpoint, at, spec, kernels),
        feed_streams=load_stream_mixer(checkpoint, f"{at}mlp_hyper_connection.", spec, kernels, gated=True),
        feed=load_moe(checkpoint, f"{at}mlp.", spec.hidden_size, layer.moe, kernels),
    )
