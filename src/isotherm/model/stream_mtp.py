"""The drafter of Flash-Next checkpoints (`mtp.*`): one more layer over all residual streams of the model's rows.

With x_s the streams of the model's row at t, before its last mixer, the row of position t is

    e = fc_embedding norm(embed(token[t+1]));  n = norm(x), one norm over all streams side by side
    y = layer(e + fc_hidden n_s, for each stream s)          indexed attention over rows 0..t, with an indexer of its own

and predicts token t+2 through a mixer of its own and the model's head. Further drafts feed y, before the mixer, back as the row
of the next position.
"""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from isotherm.core.errors import CheckpointError
from isotherm.kernels.api import Kernels, Linear, RopeTable
from isotherm.kernels.batch import Batch
from isotherm.kernels.state import IndexedStore, KVStore
from isotherm.model.checkpoint import Checkpoint
from isotherm.model.decoder import Decoder
from isotherm.model.spec import LayerSpec
from isotherm.model.stream_layer import StreamLayer, load_stream_layer_of
from isotherm.model.streams import StreamMixer, load_stream_mixer

ANCHOR = "fc_hidden.weight"
"""A tensor that every such drafter has."""


@dataclass(frozen=True, slots=True)
class StreamMtp:
    """A loaded drafter. hidden_norm: [S*H] float32, one added. fc_embedding, fc_hidden: [H, H]. table, head and rope are the
    model's own objects."""

    reads_normed: ClassVar[bool] = False

    embedding_norm: Tensor
    hidden_norm: Tensor
    fc_embedding: Linear
    fc_hidden: Linear
    layer: StreamLayer
    mixer: StreamMixer
    eps: float
    table: Linear
    head: Linear
    rope: RopeTable

    def forward(
        self, kernels: Kernels, batch: Batch, hidden: Tensor, tokens: Tensor, state: KVStore | IndexedStore
    ) -> Tensor:
        """As Mtp.forward; hidden and the result are [M, S*H], before a last mixer."""
        assert isinstance(state, IndexedStore)
        streams = self.mixer.streams
        embedded = kernels.rms_norm(kernels.embed(tokens, self.table), self.embedding_norm, self.eps)
        each = kernels.linear(embedded, self.fc_embedding).repeat(1, streams)
        normed = kernels.rms_norm(hidden, self.hidden_norm, self.eps)
        one_a_row = (len(hidden) * streams, self.fc_hidden.k)
        joined = kernels.linear(normed.view(one_a_row), self.fc_hidden, each.view(one_a_row))
        return self.layer.forward(kernels, batch, tokens, joined.view(hidden.shape), self.rope, state)

    def logits(self, kernels: Kernels, rows: Tensor) -> Tensor:
        """rows [R, S*H], as `forward` gives them -> [R, vocabulary] float32."""
        return kernels.logits(self.mixer.forward(kernels, rows)[0], self.head)


def load_stream_mtp(checkpoint: Checkpoint, decoder: Decoder) -> StreamMtp:
    """Reads everything under the checkpoint's root. Raises CheckpointError where a group of index keys would hold one key."""
    spec, kernels = decoder.spec, decoder.kernels
    hidden = spec.hidden_size
    assert spec.index is not None
    if spec.index.shape.ratio == 1:
        raise CheckpointError(f"{checkpoint.folder}: a drafter with indexer_compress_ratio=1 is not implemented")
    layer = LayerSpec("indexed_attention", next(item.moe for item in spec.layers))
    return StreamMtp(
        embedding_norm=checkpoint.take("pre_fc_norm_embedding.weight", hidden).float() + 1.0,
        hidden_norm=checkpoint.take("pre_fc_norm_hidden.weight", spec.residual_size).float() + 1.0,
        fc_embedding=kernels.pack(checkpoint.take("fc_embedding.weight", hidden, hidden)),
        fc_hidden=kernels.pack(checkpoint.take(ANCHOR, hidden, hidden)),
        layer=load_stream_layer_of(checkpoint, 0, layer, spec, kernels),
        mixer=load_stream_mixer(checkpoint, "hyper_connection_mixer.", spec, kernels, gated=False),
        eps=spec.norm_eps,
        table=decoder.table,
        head=decoder.head,
        rope=decoder.rope,
    )
