"""Random checkpoints for tests and trials, written by transformers' own classes, with the embedded model's tokenizer."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import load_file, save_file

from isotherm.core.errors import ConfigError
from isotherm.model.fields import read_json
from isotherm.model.source import EMBEDDED

Kind = Literal["qwen3_5", "qwen3_next", "qwen3_5_moe", "qwen4_exp"]

_SHAPE: dict[str, Any] = {
    "hidden_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 24,
    "max_position_embeddings": 8192,
    "initializer_range": 0.08,
}
_DENSE = {"intermediate_size": 96}
_MOE = {
    "num_experts": 6,
    "num_experts_per_tok": 3,
    "moe_intermediate_size": 40,
    "shared_expert_intermediate_size": 48,
}
_FLASH: dict[str, Any] = {
    "hc_count": 3,
    "hc_lowrank": 20,
    "ple_layer_ids": [1, 3],
    "ple_embed_dim": 24,
    "ple_conv_kernel_size": 4,
    "ngram_size": 3,
    "heads_per_ngram": 2,
    "ngram_vocab_size_base": 101,
    "make_ngram_vocab_size_divisible_by": 8,
    "split_ngram_parts": 5,
    "indexer_n_heads": 2,
    "indexer_kv_heads": 1,
    "indexer_head_dim": 16,
    "indexer_budget": 32,
    "indexer_compress_ratio": 8,
    "output_gate_type": "sigmoid",
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25},
}
_CLASSES: dict[str, tuple[str, dict[str, Any]]] = {
    "qwen3_5": ("Qwen3_5TextConfig", _DENSE),
    "qwen3_next": ("Qwen3NextConfig", _DENSE | _MOE),
    "qwen3_5_moe": ("Qwen3_5MoeTextConfig", _MOE),
    "qwen4_exp": ("Qwen4ExpTextConfig", _MOE | _FLASH),
}
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json")


@dataclass(frozen=True, slots=True)
class TinyCheckpoint:
    """What was written: `parameters` counts weights once."""

    folder: Path
    parameters: int


def write_tiny(
    kind: str, out: Path, seed: int = 0, dtype: torch.dtype = torch.float32, drafter: bool = False, **shape: Any
) -> TinyCheckpoint:
    """Write a random checkpoint of `kind` to `out`; the same seed, torch and transformers give the same weights.

    drafter: with an MTP layer (`mtp.*`), which transformers leaves out. `shape` overrides fields of the transformers config.
    Raises ConfigError for an unknown kind.
    """
    import transformers

    if kind not in _CLASSES:
        raise ConfigError("kind", f"must be one of {', '.join(_CLASSES)}, got {kind!r}")
    name, extra = _CLASSES[kind]
    fields = _SHAPE | extra | shape
    for field in ("vocab_size", "eos_token_id"):
        if field not in fields:
            fields[field] = read_json(EMBEDDED / "config.json")[field]
    config = getattr(transformers, name)(**fields)
    torch.manual_seed(seed)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.1)
            elif not parameter.any():  # a convolution that would add nothing
                parameter.copy_(torch.randn_like(parameter) * 0.3)
    model.to(dtype).save_pretrained(out)
    for file in TOKENIZER_FILES:
        if (EMBEDDED / file).is_file():
            shutil.copyfile(EMBEDDED / file, out / file)
    added = add_drafter(out, seed) if drafter else 0
    return TinyCheckpoint(out, model.num_parameters() + added)


def can_write(kind: str) -> bool:
    """Whether the installed transformers has the kind."""
    import transformers

    return hasattr(transformers, _CLASSES[kind][0])


def add_drafter(folder: Path, seed: int = 0) -> int:
    """Give a checkpoint of one file a random drafter, its layer a copy of the last attention layer; how many weights it has."""
    file = folder / "model.safetensors"
    weights = load_file(file)
    at = f"model.layers.{max(int(name.split('.')[2]) for name in weights if '.self_attn.' in name)}."
    tensors = {f"layers.0.{name.removeprefix(at)}": t.clone() for name, t in weights.items() if name.startswith(at)}
    mixer = "model.hyper_connection_mixer."
    tensors |= {name.removeprefix("model."): t.clone() for name, t in weights.items() if name.startswith(mixer)}
    table, made = weights["model.embed_tokens.weight"], torch.Generator().manual_seed(seed)
    hidden = table.shape[1]
    if f"{mixer}hc_norm.weight" in weights:
        streams = weights[f"{mixer}hc_norm.weight"].numel()
        matrices = {"fc_embedding": hidden, "fc_hidden": hidden}
        norms = {"pre_fc_norm_embedding": hidden, "pre_fc_norm_hidden": streams}
    else:
        matrices = {"fc": 2 * hidden}
        norms = dict.fromkeys(("pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm"), hidden)
    for name, columns in matrices.items():
        tensors[f"{name}.weight"] = torch.randn(hidden, columns, generator=made) * hidden**-0.5
    for name, columns in norms.items():
        tensors[f"{name}.weight"] = torch.randn(columns, generator=made) * 0.1
    save_file(weights | {f"mtp.{name}": tensor.to(table.dtype) for name, tensor in tensors.items()}, file)
    return sum(tensor.numel() for tensor in tensors.values())
