"""config.json of the Hugging Face kinds that we serve -> ModelSpec. Every field that is read is checked."""

import json
from pathlib import Path
from typing import Any

from isotherm.core.errors import CheckpointError
from isotherm.kernels.state import DeltaShape, KVShape
from isotherm.model.spec import LayerSpec, ModelSpec, MoeSpec, RopeSpec

KINDS = {
    "qwen3_next": "qwen3_next",
    "qwen3_5": "qwen3_5",
    "qwen3_5_text": "qwen3_5",
    "qwen3_5_moe": "qwen3_5_moe",
    "qwen3_5_moe_text": "qwen3_5_moe",
}


class Fields:
    """Reads typed fields of a JSON object and names the one that is missing or wrong."""

    def __init__(self, raw: dict[str, Any], where: str):
        self.raw = raw
        self.where = where

    def integer(self, name: str, default: int | None = None, least: int = 1) -> int:
        """A whole number of at least `least`."""
        value = self.raw.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise CheckpointError(f"{self.where}: {name} must be a whole number of at least {least}, got {value!r}")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """A positive number."""
        value = self.raw.get(name, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
            raise CheckpointError(f"{self.where}: {name} must be a positive number, got {value!r}")
        return float(value)

    def flag(self, name: str, default: bool) -> bool:
        """True or false; null means the default."""
        value = self.raw.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise CheckpointError(f"{self.where}: {name} must be true or false, got {value!r}")
        return value

    def expect(self, name: str, *allowed: object) -> None:
        """Reject a field whose value would change the arithmetic in a way that we do not implement."""
        value = self.raw.get(name, allowed[0])
        if value not in allowed:
            listed = " or ".join(repr(item) for item in allowed)
            raise CheckpointError(f"{self.where}: {name}={value!r} is not supported, expected {listed}")


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in `path`; CheckpointError when it is absent or not one."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file; a model is a Hugging Face folder") from None
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: {error}") from error
    if not isinstance(raw, dict):
        raise CheckpointError(f"{path}: expected a JSON object")
    return raw


def read_spec(folder: Path) -> ModelSpec:
    """The text model that `folder`/config.json describes; a multimodal config gives its text part."""
    raw = read_json(folder / "config.json")
    where = str(folder / "config.json")
    _check_quantization(raw, where)
    kind = KINDS.get(str(raw.get("model_type")))
    if kind is None:
        known = ", ".join(sorted(KINDS))
        raise CheckpointError(f"{where}: model_type={raw.get('model_type')!r} is not supported; known: {known}")
    text = raw.get("text_config", raw)
    if text is not raw:
        _check_quantization(text, f"{where}: text_config")
        text = {"tie_word_embeddings": raw.get("tie_word_embeddings")} | text
    return _spec(kind, Fields(text, where))


def _check_quantization(raw: dict[str, Any], where: str) -> None:
    quantization = raw.get("quantization_config")
    if quantization:
        method = quantization.get("quant_method") if isinstance(quantization, dict) else quantization
        raise CheckpointError(
            f"{where}: quantization_config (quant_method={method!r}) is not implemented; "
            "use the checkpoint's bfloat16, float16 or float32 release"
        )


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
        rope=_rope(fields, head_dim),
        max_positions=fields.integer("max_position_embeddings"),
        tied_embeddings=fields.flag("tie_word_embeddings", False),
        interleaved_projections=kind == "qwen3_next",
    )


def _layers(kind: str, fields: Fields) -> tuple[LayerSpec, ...]:
    count = fields.integer("num_hidden_layers")
    interval = fields.integer("full_attention_interval", 4)
    mixers = fields.raw.get("layer_types") or [
        "full_attention" if (index + 1) % interval == 0 else "linear_attention" for index in range(count)
    ]
    if len(mixers) != count or set(mixers) - {"linear_attention", "full_attention"}:
        raise CheckpointError(
            f"{fields.where}: layer_types must hold {count} of 'linear_attention' or 'full_attention', got {mixers!r}"
        )
    moe = None if kind == "qwen3_5" else _moe(kind, fields)
    step = fields.integer("decoder_sparse_step", 1)
    dense = set(fields.raw.get("mlp_only_layers") or [])
    return tuple(
        LayerSpec(mixer, moe if index not in dense and (index + 1) % step == 0 else None)
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


def _rope(fields: Fields, head_dim: int) -> RopeSpec:
    """Frequencies may be fixed at load only: a scaling that follows the total length would move cached positions."""
    raw = fields.raw.get("rope_parameters") or fields.raw.get("rope_scaling") or {}
    rope = Fields({"rope_theta": fields.raw.get("rope_theta", 10000.0)} | raw, f"{fields.where}: rope_parameters")
    kind = rope.raw.get("rope_type", rope.raw.get("type", "default"))
    if kind not in ("default", "linear"):
        raise CheckpointError(
            f"{rope.where}: rope_type={kind!r} is not supported; exact numerics need frequencies that do not "
            "depend on the total length: 'default' or 'linear'"
        )
    partial = rope.number("partial_rotary_factor", fields.raw.get("partial_rotary_factor", 0.25))
    rotary_dim = int(head_dim * partial)
    if rotary_dim < 2 or rotary_dim % 2 or rotary_dim > head_dim:
        raise CheckpointError(f"{rope.where}: partial_rotary_factor={partial:g} of head_dim={head_dim} is not even")
    return RopeSpec(rope.number("rope_theta"), rotary_dim, rope.number("factor", 1.0) if kind == "linear" else 1.0)
