"""The drafter of Qwen3-Next and Qwen3.5 checkpoints (multi-token prediction, `mtp.*`): one more layer over the model's rows.

The row of position t joins the embedding of token t+1 with the model's row at t, after its final norm, and predicts token t+2:

    x = fc([norm(embed(token[t+1])), norm(hidden[t])])      embedding first
    y = norm(layer(x))                                      attention over rows 0..t, at position t

Embedding and head are the model's. Further drafts feed y back as the hidden row of the next position.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import Tensor

from isotherm.core.errors import CheckpointError
from isotherm.kernels.api import Kernels, Linear, RopeTable
from isotherm.kernels.batch import Batch
from isotherm.kernels.state import IndexedStore, KVStore
from isotherm.model.attention_layer import load_attention_layer
from isotherm.model.checkpoint import Checkpoint
from isotherm.model.decoder import Decoder, Layer
from isotherm.model.hf_config import read_spec
from isotherm.model.mlp import Mlp, load_mlp
from isotherm.model.moe import Moe, load_moe
from isotherm.model.spec import ModelSpec
from isotherm.model.state import drafter_store
from isotherm.model.stream_mtp import ANCHOR as STREAM_ANCHOR
from isotherm.model.stream_mtp import StreamMtp, load_stream_mtp

ROOTS = ("model.language_model.mtp.", "language_model.mtp.", "model.mtp.", "mtp.")
"""Where the drafter's tensors may start, the longest first."""


@dataclass(frozen=True, slots=True)
class Mtp:
    """A loaded drafter. fc: [hidden, 2*hidden]. table, head and rope are the model's own objects.

    reads_normed: the model's rows that it reads are those after the final norm.
    """

    reads_normed: ClassVar[bool] = True

    embedding_norm: Tensor
    hidden_norm: Tensor
    fc: Linear
    layer: Layer
    norm: Tensor
    eps: float
    table: Linear
    head: Linear
    rope: RopeTable

    def forward(
        self, kernels: Kernels, batch: Batch, hidden: Tensor, tokens: Tensor, state: KVStore | IndexedStore
    ) -> Tensor:
        """The drafter's rows of a pass, after its last norm [M, hidden]. Writes the blocks that the batch names.

        hidden: [M, hidden] the model's rows as `read_rows` gives them, or the drafter's own of the draft before.
        tokens: [M] int32, for each row the token after it. batch: the pass that made `hidden`: same positions, own blocks.
        """
        assert isinstance(state, KVStore)
        embedded = kernels.rms_norm(kernels.embed(tokens, self.table), self.embedding_norm, self.eps)
        joined = kernels.join(embedded, kernels.rms_norm(hidden, self.hidden_norm, self.eps))
        x = self.layer.forward(kernels, batch, kernels.linear(joined, self.fc), self.eps, self.rope, state)
        return kernels.rms_norm(x, self.norm, self.eps)

    def logits(self, kernels: Kernels, rows: Tensor) -> Tensor:
        """rows [R, hidden], as `forward` gives them -> [R, vocabulary] float32."""
        return kernels.logits(rows, self.head)


AnyMtp = Mtp | StreamMtp
"""A drafter of any kind. `forward` gives rows that `logits` and the next `forward` read."""


def has_mtp(folder: Path) -> bool:
    """Whether the checkpoint in `folder` holds a drafter that its model could use."""
    try:
        with Checkpoint(folder, ROOTS, _anchor(read_spec(folder))):
            return True
    except CheckpointError:
        return False


def load_mtp(folder: Path, decoder: Decoder) -> AnyMtp:
    """Reads and packs the drafter of the checkpoint that `decoder` was loaded from.

    Raises CheckpointError when there is none, or when it has more than one layer or an embedding or head of its own.
    """
    spec, kernels = decoder.spec, decoder.kernels
    load = _load if spec.streams is None else load_stream_mtp
    with Checkpoint(folder, ROOTS, _anchor(spec), str(kernels.device)) as checkpoint:
        mtp = load(checkpoint, decoder)
        if extra := checkpoint.left():
            more = f" and {len(extra) - 3} more" if len(extra) > 3 else ""
            named = f"{', '.join(extra[:3])}{more}"
            if layers := re.findall(r"\bmtp\.layers\.([1-9]\d*)\.", " ".join(extra)):
                raise CheckpointError(
                    f"{folder}: its drafter has {max(map(int, layers)) + 1} layers, and only one is implemented ({named}); "
                    "serve it without drafts, or with those of n-grams"
                )
            raise CheckpointError(f"{folder}: not implemented in a drafter: {named}")
    return mtp


def read_rows(mtp: AnyMtp, decoder: Decoder, hidden: Tensor) -> Tensor:
    """What the drafter reads of the model's rows [M, hidden] before the final norm: those after it, or they themselves."""
    return decoder.normed(hidden) if mtp.reads_normed else hidden


def _anchor(spec: ModelSpec) -> str:
    return "fc.weight" if spec.streams is None else STREAM_ANCHOR


def _load(checkpoint: Checkpoint, decoder: Decoder) -> Mtp:
    spec, kernels = decoder.spec, decoder.kernels
    hidden = spec.hidden_size
    return Mtp(
        embedding_norm=checkpoint.take("pre_fc_norm_embedding.weight", hidden).float() + 1.0,
        hidden_norm=checkpoint.take("pre_fc_norm_hidden.weight", hidden).float() + 1.0,
        fc=kernels.pack(checkpoint.take("fc.weight", hidden, 2 * hidden)),
        layer=_layer(checkpoint, spec, kernels),
        norm=checkpoint.take("norm.weight", hidden).float() + 1.0,
        eps=spec.norm_eps,
        table=decoder.table,
        head=decoder.head,
        rope=decoder.rope,
    )


def _layer(checkpoint: Checkpoint, spec: ModelSpec, kernels: Kernels) -> Layer:
    at, hidden = "layers.0.", spec.hidden_size
    return Layer(
        mixer_norm=checkpoint.take(f"{at}input_layernorm.weight", hidden).float() + 1.0,
        mixer=load_attention_layer(checkpoint, at, spec, kernels),
        feed_norm=checkpoint.take(f"{at}post_attention_layernorm.weight", hidden).float() + 1.0,
        feed=_feed(checkpoint, f"{at}mlp.", spec, kernels),
    )


def _feed(checkpoint: Checkpoint, at: str, spec: ModelSpec, kernels: Kernels) -> Mlp | Moe:
    """Sparse, with the sizes of the model's own experts, where there is a router."""
    moe = next((layer.moe for layer in spec.layers if layer.moe), None)
    if moe is not None and f"{at}gate.weight" in checkpoint:
        return load_moe(checkpoint, at, spec.hidden_size, moe, kernels)
    return load_mlp(checkpoint, at, spec.hidden_size, spec.intermediate_size, kernels)


def mtp_state(spec: ModelSpec, kernels: Kernels, blocks: int) -> KVStore | IndexedStore:
    """Storage for `blocks` blocks of the keys and values of a drafter whose entry 0 is that of token 1."""
    return drafter_store(spec, kernels, blocks, skip=0)
