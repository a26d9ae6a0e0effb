"""config.json of the Hugging Face kinds that we serve -> ModelSpec. Every field that is read is checked."""

from pathlib import Path

from isotherm.core.errors import CheckpointError
from isotherm.kernels.state import DeltaShape, KVShape
from isotherm.model import flash_config
from isotherm.model.fields import Fields
from isotherm.model.fields import read_json as read_json
from isotherm.model.quantization import quantization_of
from isotherm.model.spec import LayerSpec, ModelSpec, MoeSpec, RopeSpec

KINDS = {
    "qwen3_next": "qwen3_next",
    "qwen3_5": "qwen3_5",
    "qwen3_5_text": "qwen3_5",
    "qwen3_5_moe": "qwen3_5_moe",
    "qwen3_5_moe_text": "qwen3_5_moe",
    "qwen4_exp": "qwen4_exp",
    "qwen4_exp_text": "qwen4_exp",
}

FLASH = "qwen4_exp"


def read_spec(folder: Path) -> ModelSpec:
    """The text model that `folder`/config.json describes; a multimodal config gives its text part."""
    raw = read_json(folder / "config.json")
    where = str(folder / "config.json")
    quantization_of(raw, where)
    kind = KINDS.get(str(raw.get("model_type")))
    if kind is None:
        known = ", ".join(sorted(KINDS))
        raise CheckpointError(f"{where}: model_type={raw.get('model_type')!r} is not supported; known: {known}")
    text = raw.get("text_config", raw)
    if text is not raw:
        quantization_of(text, f"{where}: text_config")
        text = {"tie_word_embeddings": raw.get("tie_word_embeddings")} | text
    return _spec(kind, Fields(text, where))


def _spec(kind: str, fields: Fields) -> ModelSpec:
    fields.expect("hidden_act", "silu")
    fields.expect("attention_bias", False, None)
    heads, hidden = fields.integer("num_attention_heads"), fields.integer("hidden_size")
    head_dim = fields.integer("head_dim", hidden // heads)
    kv_heads = fields.integer("num_key_value_heads")
    key_heads, value_heads = fields.integer("linear_num_key_heads"), fields.integer("linear_num_value_heads")
    for name, many, few in (
        ("num_attention_heads", heads, kv_heads),
        ("linear_num_value_heads", value_heads, key_heads),
    ):
        if many % few:
            raise CheckpointError(f"{fields.where}: {name}={many} must be a multiple of its key heads ({few})")
    rope = _rope(kind, fields, head_dim)
    flash = kind == FLASH
    return ModelSpec(
        kind=kind,
        vocab_size=fields.integer("vocab_size"),
        hidden_size=hidden,
        intermediate_size=fields.integer("intermediate_size", 0, least=0),
        layers=_layers(kind, fields),
        query_heads=heads,
        kv=KVShape(heads=kv_heads, dim=head_dim),
        delta=DeltaShape(
            key_heads, value_heads, fields.integer("linear_key_head_dim"), fields.integer("linear_value_head_dim")
        ),
        conv_width=fields.integer("linear_conv_kernel_dim", 4, least=2),
        norm_eps=fields.number("rms_norm_eps", 1e-6),
        rope=rope,
        max_positions=fields.integer("max_position_embeddings"),
        tied_embeddings=fields.flag("tie_word_embeddings", False),
        interleaved_projections=kind == "qwen3_next",
        streams=flash_config.stream_spec(fields) if flash else None,
        index=flash_config.index_spec(fields, rope.rotary_dim) if flash else None,
        output_gate=flash_config.output_gate(fields) if flash else "silu",
    )


def _layers(kind: str, fields: Fields) -> tuple[LayerSpec, ...]:
    count = fields.integer("num_hidden_layers")
    interval = fields.integer("full_attention_interval", 4)
    mixers = fields.raw.get("layer_types") or [
        "full_attention" if (index + 1) % interval == 0 else "linear_attention" for index in range(count)
    ]
    if kind == FLASH:  # released checkpoints say full_attention, transformers indexed_attention, 5.17 of it the third
        names = ("indexed_attention", "qwen_sparse_attention")
        mixers = ["full_attention" if mixer in names else mixer for mixer in mixers]
    if len(mixers) != count or set(mixers) - {"linear_attention", "full_attention"}:
        raise CheckpointError(
            f"{fields.where}: layer_types must hold {count} of 'linear_attention' or 'full_attention', got {mixers!r}"
        )
    moe = None if kind == "qwen3_5" else _moe(kind, fields)
    step = fields.integer("decoder_sparse_step", 1)
    dense = set(fields.raw.get("mlp_only_layers") or [])
    if kind == FLASH:
        return _flash_layers(fields, mixers, moe)
    return tuple(
        LayerSpec(mixer, moe if index not in dense and (index + 1) % step == 0 else None)
        for index, mixer in enumerate(mixers)
    )


def _flash_layers(fields: Fields, mixers: list[str], moe: MoeSpec | None) -> tuple[LayerSpec, ...]:
    if moe is None:
        raise CheckpointError(f"{fields.where}: num_experts must be at least 1, got 0")
    ngrams = flash_config.ngram_specs(fields, mixers)
    return tuple(
        LayerSpec("indexed_attention" if mixer == "full_attention" else "linear_attention", moe, ngrams.get(index))
        for index, mixer in enumerate(mixers)
    )


def _moe(kind: str, fields: Fields) -> MoeSpec | None:
    experts = fields.integer("num_experts", least=0)
    if experts == 0:
        return None
    active = fields.integer("num_experts_per_tok")
    if active > experts:
        raise CheckpointError(f"{fields.where}: num_experts_per_tok={active} exceeds num_experts={experts}")
    return MoeSpec(
        experts=experts,
        active=active,
        intermediate=fields.integer("moe_intermediate_size"),
        shared_intermediate=fields.integer("shared_expert_intermediate_size", 0, least=0),
        renormalize=True if kind == "qwen3_5_moe" else fields.flag("norm_topk_prob", True),
    )


def _rope(kind: str, fields: Fields, head_dim: int) -> RopeSpec:
    """Frequencies may be fixed at load only: a scaling that follows the total length would move cached positions."""
    raw = fields.raw.get("rope_parameters") or fields.raw.get("rope_scaling") or {}
    rope = Fields({"rope_theta": fields.raw.get("rope_theta", 10000.0)} | raw, f"{fields.where}: rope_parameters")
    scaling = rope.raw.get("rope_type", rope.raw.get("type", "default"))
    if scaling not in ("default", "linear"):
        raise CheckpointError(
            f"{rope.where}: rope_type={scaling!r} is not supported; exact numerics need frequencies that do not "
            "depend on the total length: 'default' or 'linear'"
        )
    partial = rope.number(
        "partial_rotary_factor", fields.raw.get("partial_rotary_factor", 1.0 if kind == FLASH else 0.25)
    )
    rotary_dim = int(head_dim * partial)
    if rotary_dim < 2 or rotary_dim % 2 or rotary_dim > head_dim:
        raise CheckpointError(f"{rope.where}: partial_rotary_factor={partial:g} of head_dim={head_dim} is not even")
    return RopeSpec(rope.number("rope_theta"), rotary_dim, rope.number("factor", 1.0) if scaling == "linear" else 1.0)
