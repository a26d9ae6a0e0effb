"""A folder -> a Decoder, every tensor accounted for."""

import logging
from collections.abc import Callable
from pathlib import Path

from torch import Tensor

from isotherm.core.errors import ConfigError
from isotherm.kernels.api import Kernels
from isotherm.model.attention_layer import load_attention_layer
from isotherm.model.checkpoint import Checkpoint
from isotherm.model.decoder import Decoder, Layer
from isotherm.model.delta_layer import load_delta_layer
from isotherm.model.hf_config import read_spec
from isotherm.model.mlp import load_mlp
from isotherm.model.moe import load_moe
from isotherm.model.rope import rope_table
from isotherm.model.spec import ModelSpec
from isotherm.model.stream_layer import StreamLayer, load_stream_layer
from isotherm.model.streams import StreamMixer, load_stream_mixer
from isotherm.model.support import check_support

log = logging.getLogger("isotherm")


def context_length(spec: ModelSpec, asked: int) -> int:
    """The longest sequence served: `asked`, or the checkpoint's maximum for 0."""
    if asked > spec.max_positions:
        raise ConfigError(
            "max_model_len",
            f"must be at most the checkpoint's max_position_embeddings={spec.max_positions}, got {asked}",
        )
    return asked or spec.max_positions


def load_decoder(folder: Path, kernels: Kernels, max_positions: int) -> Decoder:
    """Reads and packs every weight; the rotary table covers `max_positions`.

    Raises CheckpointError naming the field or tensor that is missing, extra, of another shape or not supported.
    """
    spec = read_spec(folder)
    check_support(spec, kernels)
    with Checkpoint(folder, device=str(kernels.device)) as checkpoint:
        table = kernels.pack(checkpoint.take("embed_tokens.weight", spec.vocab_size, spec.hidden_size))
        load: Callable[..., Layer | StreamLayer] = _layer if spec.streams is None else load_stream_layer
        layers = tuple(load(checkpoint, index, spec, kernels) for index in range(len(spec.layers)))
        norm = _final_norm(checkpoint, spec, kernels)
        if spec.tied_embeddings:
            head = table
            checkpoint.drop_tied_head()
        else:
            head = kernels.pack(checkpoint.take_head(spec.vocab_size, spec.hidden_size))
        skipped = checkpoint.finish()
    if skipped:
        parts = sorted({_part(name) for name in skipped})
        log.info("not loaded: %d tensors of %s", len(skipped), " and ".join(parts))
    return Decoder(spec, kernels, table, layers, norm, head, rope_table(spec.rope, max_positions, kernels.device))


def _final_norm(checkpoint: Checkpoint, spec: ModelSpec, kernels: Kernels) -> Tensor | StreamMixer:
    if spec.streams is not None:
        return load_stream_mixer(checkpoint, "hyper_connection_mixer.", spec, kernels, gated=False)
    return checkpoint.take("norm.weight", spec.hidden_size).float() + 1.0


def _part(name: str) -> str:
    return "the drafter (mtp)" if "mtp." in name else "the vision tower (images are not served)"


def _layer(checkpoint: Checkpoint, index: int, spec: ModelSpec, kernels: Kernels) -> Layer:
    at, hidden = f"layers.{index}.", spec.hidden_size
    layer = spec.layers[index]
    load_mixer = load_attention_layer if layer.mixer == "full_attention" else load_delta_layer
    return Layer(
        mixer_norm=checkpoint.take(f"{at}input_layernorm.weight", hidden).float() + 1.0,
        mixer=load_mixer(checkpoint, at, spec, kernels),
        feed_norm=checkpoint.take(f"{at}post_attention_layernorm.weight", hidden).float() + 1.0,
        feed=load_moe(checkpoint, f"{at}mlp.", hidden, layer.moe, kernels)
        if layer.moe
        else load_mlp(checkpoint, f"{at}mlp.", hidden, spec.intermediate_size, kernels),
    )
