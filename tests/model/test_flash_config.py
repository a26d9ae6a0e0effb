"""A qwen4_exp checkpoint that cannot be served is refused, and the message names what is wrong."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from isotherm.core.errors import CheckpointError
from isotherm.kernels.load import load_kernels
from isotherm.model.hf_config import read_spec
from isotherm.model.load import load_decoder
from isotherm.model.mtp import has_mtp, load_mtp
from isotherm.model.state import allocate
from isotherm.native.kernels import NativeKernels


@pytest.fixture
def folder(checkpoints, tmp_path) -> Path:
    return Path(shutil.copytree(checkpoints["qwen4_exp"], tmp_path / "model"))


def edit(folder: Path, **fields: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"indexer_compress_ratio": 12, "indexer_budget": 48}, "indexer_compress_ratio=12 must divide the block of 64"),
        ({"indexer_budget": 33}, "indexer_budget=33 must be a multiple"),
        ({"indexer_head_dim": 4}, "indexer_head_dim=4 is less than the 8 rotated columns"),
        ({"indexer_kv_heads": 2}, "indexer_kv_heads=2"),
        ({"indexer_n_heads": None}, "indexer_n_heads"),
        ({"hc_count": 1}, "hc_count"),
        ({"output_gate_type": "tanh"}, "output_gate_type='tanh'"),
        ({"ple_layer_ids": [4]}, r"ple_layer_ids: [4] are not linear_attention"),
        ({"ple_layer_ids": [9]}, "ple_layer_ids must hold layers from 1 to 4"),
        ({"ple_embed_dim": 10}, "ple_embed_dim=10 must be a multiple of the 4 n-gram heads"),
        ({"eos_token_id": None}, "eos_token_id must be set"),
        ({"num_experts": 0}, "num_experts"),
        ({"layer_types": ["sliding_attention"] * 4}, "layer_types"),
        ({"quantization_config": {"quant_method": "modelopt"}}, "quant_method='modelopt'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_field_that_cannot_be_honoured_is_named(folder: Path, fields: dict[str, object], named: str) -> None:
    edit(folder, **fields)
    with pytest.raises(CheckpointError) as refused:
        read_spec(folder)
    assert named in str(refused.value)


@pytest.mark.parametrize("name", ["full_attention", "indexed_attention", "qwen_sparse_attention"])
def test_every_name_of_indexed_attention_is_known(folder: Path, name: str) -> None:
    edit(folder, layer_types=["linear_attention"] * 3 + [name])
    assert [layer.mixer for layer in read_spec(folder).layers] == ["linear_attention"] * 3 + ["indexed_attention"]


def test_the_first_of_several_end_tokens_resets_n_grams(folder: Path) -> None:
    edit(folder, eos_token_id=[7, 9])
    ngrams = [layer.ngram for layer in read_spec(folder).layers if layer.ngram]
    assert [ngram.end for ngram in ngrams] == [7, 7]


def test_a_gate_that_is_not_said_is_that_of_the_hidden_layers(folder: Path) -> None:
    edit(folder, output_gate_type=None)
    assert read_spec(folder).output_gate == "silu"


def test_numbers_of_the_hash_are_those_that_the_checkpoint_holds(checkpoints) -> None:
    stored = load_file(checkpoints["qwen4_exp"] / "model.safetensors")
    spec = read_spec(checkpoints["qwen4_exp"])
    for layer in (0, 2):
        at, ngram = f"model.layers.{layer}.ple.ple_embedding.", spec.layers[layer].ngram
        assert ngram is not None
        assert tuple(stored[f"{at}layer_multipliers"].tolist()) == ngram.multipliers
        assert tuple(stored[f"{at}ngram_heads_vocab_sizes"].tolist()) == ngram.sizes


def test_a_missing_shard_of_the_table_is_named(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    del tensors["model.layers.2.ple.ple_embedding.ngram_embedding.shard_4.weight"]
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"layers\.2.*shard_4\.weight is missing"):
        load_decoder(folder, load_kernels("torch", "float32", 1), 128)


def test_kernels_that_cannot_compute_it_are_refused_by_name(checkpoints) -> None:
    kernels = NativeKernels(1)
    spec = read_spec(checkpoints["qwen4_exp"])
    for call in (lambda: allocate(spec, kernels, 2, 2, 1), lambda: load_decoder(checkpoints["qwen4_exp"], kernels, 64)):
        with pytest.raises(CheckpointError, match=r"qwen4_exp is computed with numerics=exact"):
            call()


def test_a_drafter_of_another_kind_is_not_taken_for_its_own(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors") | {"mtp.fc.weight": torch.zeros(64, 128)}
    save_file(tensors, folder / "model.safetensors")
    assert not has_mtp(folder)
    decoder = load_decoder(folder, load_kernels("torch", "float32", 1), 128)
    with pytest.raises(CheckpointError, match=r"no tensor named fc_hidden\.weight"):
        load_mtp(folder, decoder)
