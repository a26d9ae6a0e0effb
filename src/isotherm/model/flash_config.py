"""What Flash-Next (qwen4_exp) adds to a config.json: streams, an indexer, n-gram embeddings, the output gate."""

import math

from isotherm.core.constants import BLOCK
from isotherm.core.errors import CheckpointError
from isotherm.kernels.state import IndexShape
from isotherm.model.fields import Fields
from isotherm.model.ngram import multipliers, primes_from
from isotherm.model.spec import IndexSpec, NgramSpec, OutputGate, StreamSpec


def stream_spec(fields: Fields) -> StreamSpec:
    """Hyper-connections; every checkpoint of the kind has them."""
    return StreamSpec(fields.integer("hc_count", 4, least=2), fields.integer("hc_lowrank", 320))


def index_spec(fields: Fields, rotary_dim: int) -> IndexSpec:
    """The indexer. A group of tokens must lie in one block of 64."""
    fields.expect("indexer_kv_heads", 1)
    ratio, budget = fields.integer("indexer_compress_ratio"), fields.integer("indexer_budget")
    if BLOCK % ratio:
        raise CheckpointError(f"{fields.where}: indexer_compress_ratio={ratio} must divide the block of {BLOCK} tokens")
    if budget % ratio:
        raise CheckpointError(
            f"{fields.where}: indexer_budget={budget} must be a multiple of indexer_compress_ratio={ratio}"
        )
    dim = fields.integer("indexer_head_dim")
    if rotary_dim > dim:
        raise CheckpointError(f"{fields.where}: indexer_head_dim={dim} is less than the {rotary_dim} rotated columns")
    return IndexSpec(fields.integer("indexer_n_heads"), IndexShape(dim, ratio), budget // ratio)


def ngram_specs(fields: Fields, layer_types: list[str]) -> dict[int, NgramSpec]:
    """By layer, from 0, those with an n-gram embedding."""
    ids = fields.raw.get("ple_layer_ids") or []
    if not isinstance(ids, list) or not all(isinstance(item, int) and 1 <= item <= len(layer_types) for item in ids):
        raise CheckpointError(
            f"{fields.where}: ple_layer_ids must hold layers from 1 to {len(layer_types)}, got {ids!r}"
        )
    layers = [item - 1 for item in sorted(set(ids))]
    if wrong := [layer + 1 for layer in layers if layer_types[layer] != "linear_attention"]:
        raise CheckpointError(f"{fields.where}: ple_layer_ids: {wrong} are not linear_attention layers")
    return {layer: _ngram(fields, place) for place, layer in enumerate(layers)}


def _ngram(fields: Fields, place: int) -> NgramSpec:
    order, heads = fields.integer("ngram_size", 3, least=2), fields.integer("heads_per_ngram", 8)
    dim = fields.integer("hidden_size" if fields.raw.get("ple_embed_dim") is None else "ple_embed_dim")
    count = (order - 1) * heads
    if dim % count:
        raise CheckpointError(f"{fields.where}: ple_embed_dim={dim} must be a multiple of the {count} n-gram heads")
    sizes = primes_from(fields.integer("ngram_vocab_size_base", 20_000_000), place * count, count)
    pad = fields.integer("make_ngram_vocab_size_divisible_by", 128)
    vocabulary = fields.integer("vocab_size")
    return NgramSpec(
        order=order,
        heads=heads,
        dim=dim,
        multipliers=multipliers(vocabulary, order, place, fields.integer("seed", 1234, least=0)),
        sizes=sizes,
        rows=math.ceil(sum(sizes) / pad) * pad,
        shards=fields.integer("split_ngram_parts", 512),
        end=_end_token(fields),
        conv_width=fields.integer("ple_conv_kernel_size", 4),
    )


def _end_token(fields: Fields) -> int:
    """The first where there are several, as transformers has it; only it resets an n-gram."""
    value = fields.raw.get("eos_token_id")
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, int) or isinstance(first, bool):
        raise CheckpointError(f"{fields.where}: eos_token_id must be set where ple_layer_ids is, got {value!r}")
    return first


def output_gate(fields: Fields) -> OutputGate:
    """As the checkpoint says; hidden_act where it says nothing."""
    fields.expect("output_gate_type", None, "silu", "sigmoid")
    return "sigmoid" if fields.raw.get("output_gate_type") == "sigmoid" else "silu"
