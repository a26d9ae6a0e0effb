"""A checkpoint that cannot be served is refused, and the message names what is wrong."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from isotherm.core.errors import CheckpointError, ConfigError
from isotherm.kernels.load import load_kernels
from isotherm.model.hf_config import read_spec
from isotherm.model.load import context_length, load_decoder


@pytest.fixture
def folder(checkpoints, tmp_path) -> Path:
    return Path(shutil.copytree(checkpoints["qwen3_next"], tmp_path / "model"))


def edit_config(folder: Path, **fields: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def edit_tensors(folder: Path, change) -> None:  # type: ignore[no-untyped-def]
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


def load(folder: Path) -> None:
    load_decoder(folder, load_kernels("torch", "float32", 1), 128)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"model_type": "llama"}, "model_type='llama'"),
        ({"quantization_config": {"quant_method": "awq"}}, "quant_method='awq'"),
        ({"hidden_act": "gelu"}, "hidden_act='gelu'"),
        ({"attention_bias": True}, "attention_bias=True"),
        ({"num_hidden_layers": 0}, "num_hidden_layers"),
        ({"layer_types": ["full_attention"]}, "layer_types"),
        ({"num_attention_heads": 3}, "num_attention_heads=3"),
        ({"num_experts_per_tok": 99}, "num_experts_per_tok=99"),
        ({"vocab_size": "many"}, "vocab_size"),
        ({"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}}, "rope_type='dynamic'"),
        ({"rope_parameters": {"rope_type": "longrope", "rope_theta": 1e4}}, "rope_type='longrope'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_field_that_cannot_be_honoured_is_named(folder: Path, fields: dict[str, object], named: str) -> None:
    edit_config(folder, **fields)
    with pytest.raises(CheckpointError, match=named.replace("[", r"\[")):
        read_spec(folder)


def test_a_missing_tensor_is_named(folder: Path) -> None:
    edit_tensors(folder, lambda tensors: tensors.pop("model.layers.1.linear_attn.A_log"))
    with pytest.raises(CheckpointError, match=r"model\.layers\.1\.linear_attn\.A_log is missing"):
        load(folder)


def test_an_extra_tensor_is_named(folder: Path) -> None:
    edit_tensors(folder, lambda tensors: tensors.update({"model.layers.0.surprise": torch.zeros(1)}))
    with pytest.raises(CheckpointError, match=r"model\.layers\.0\.surprise"):
        load(folder)


def test_a_tensor_of_another_shape_is_named_with_both_shapes(folder: Path) -> None:
    edit_tensors(folder, lambda tensors: tensors.update({"model.norm.weight": torch.zeros(3)}))
    with pytest.raises(CheckpointError, match=r"model\.norm\.weight has shape \[3\], expected \[64\]"):
        load(folder)


def test_a_tensor_of_integers_is_refused(folder: Path) -> None:
    edit_tensors(folder, lambda tensors: tensors.update({"model.norm.weight": torch.zeros(64, dtype=torch.int8)}))
    with pytest.raises(CheckpointError, match=r"model\.norm\.weight is torch\.int8"):
        load(folder)


def test_a_truncated_weight_file_is_named(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(CheckpointError, match=r"model\.safetensors"):
        load(folder)


def test_an_empty_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"config\.json: no such file"):
        read_spec(tmp_path)


def test_a_context_beyond_the_checkpoints_is_a_configuration_error(folder: Path) -> None:
    with pytest.raises(ConfigError, match="max_model_len"):
        context_length(read_spec(folder), 1_000_000)
