"""Random checkpoints for tests and trials, written by transformers' own classes, with the embedded model's tokenizer."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from isotherm.core.errors import ConfigError
from isotherm.model.hf_config import read_json
from isotherm.model.source import EMBEDDED

Kind = Literal["qwen3_5", "qwen3_next", "qwen3_5_moe"]

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
_CLASSES: dict[str, tuple[str, dict[str, Any]]] = {
    "qwen3_5": ("Qwen3_5TextConfig", _DENSE),
    "qwen3_next": ("Qwen3NextConfig", _DENSE | _MOE),
    "qwen3_5_moe": ("Qwen3_5MoeTextConfig", _MOE),
}
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json")


@dataclass(frozen=True, slots=True)
class TinyCheckpoint:
    """What was written: `parameters` counts weights once."""

    folder: Path
    parameters: int


def write_tiny(kind: str, out: Path, seed: int = 0, dtype: torch.dtype = torch.float32, **shape: Any) -> TinyCheckpoint:
    """Write a random checkpoint of `kind` to `out`; the same seed, torch and transformers give the same weights.

    `shape` overrides fields of the transformers config. Raises ConfigError for an unknown kind.
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
    model.to(dtype).save_pretrained(out)
    for file in TOKENIZER_FILES:
        if (EMBEDDED / file).is_file():
            shutil.copyfile(EMBEDDED / file, out / file)
    return TinyCheckpoint(out, model.num_parameters())
