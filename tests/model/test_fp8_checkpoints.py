"""Block-FP8 checkpoints: the model that they stand for, to the bit; what is not supported is refused by its name."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from test_checkpoint_errors import edit_config, edit_tensors, load
from typer.testing import CliRunner

from isotherm.cli.main import app
from isotherm.core.errors import CheckpointError
from isotherm.engine.doctor import compare_with_transformers
from isotherm.kernels.linear.fp8 import Fp8Experts, Fp8Linear
from isotherm.kernels.load import load_kernels
from isotherm.kernels.weight import FP8, Fp8Weight
from isotherm.model.hf_config import read_spec
from isotherm.model.load import load_decoder
from isotherm.model.mtp import Mtp, load_mtp
from isotherm.model.quantization import Quantization
from isotherm.model.tiny import write_tiny
from isotherm.model.tiny_fp8 import convert
from isotherm.model.weights import weight_bytes
from isotherm.native.kernels import NativeKernels
from isotherm.runner.forward import Sequenced

KINDS = ("qwen3_next", "qwen3_5", "qwen3_5_moe", "qwen4_exp")
WIDTH = {"hidden_size": 160}
"""Two blocks of scales along K, the second a partial one."""
KEPT = "quantization_config"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By kind, with a drafter."""
    folders = {kind: tmp_path_factory.mktemp(f"{kind}-fp8") for kind in KINDS}
    for kind, folder in folders.items():
        write_tiny(kind, folder, 1, drafter=True, vocab_size=512, eos_token_id=511, **WIDTH)
        convert(folder)
    return folders


@pytest.fixture
def folder(written: dict[str, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(written["qwen3_next"], tmp_path / "model"))


def stands_for(folder: Path, out: Path) -> Path:
    """The same checkpoint with every FP8 weight as the bfloat16 weight that it stands for."""
    shutil.copytree(folder, out)
    tensors = load_file(out / "model.safetensors")
    scales = {name: tensors.pop(name) for name in tuple(tensors) if name.endswith("_scale_inv")}
    for name, scale in scales.items():
        weight = tensors[name.removesuffix("_scale_inv")]
        tensors[name.removesuffix("_scale_inv")] = Fp8Weight.of_blocks(weight, scale).dequantized()
    save_file(tensors, out / "model.safetensors")
    config = json.loads((out / "config.json").read_text())
    del config[KEPT]
    (out / "config.json").write_text(json.dumps(config))
    return out


def logits(folder: Path, kernels: str, dtype: str, tokens: list[int]) -> torch.Tensor:
    decoder = load_decoder(folder, load_kernels(kernels, dtype, 2), 256)  # type: ignore[arg-type]
    return Sequenced(decoder, len(tokens)).extend(tokens)


@pytest.mark.parametrize(("kernels", "dtype"), [("c", "bfloat16"), ("c", "float32"), ("torch", "bfloat16")])
@pytest.mark.parametrize("kind", KINDS)
def test_its_logits_are_those_of_the_model_it_stands_for(
    written, tmp_path, kind: str, kernels: str, dtype: str
) -> None:
    tokens = torch.randint(0, 511, (70,), generator=torch.Generator().manual_seed(1)).tolist()
    expected = logits(stands_for(written[kind], tmp_path / "same"), kernels, dtype, tokens)
    assert expected.isfinite().all()
    assert torch.equal(logits(written[kind], kernels, dtype, tokens), expected)


@pytest.mark.parametrize("kind", KINDS[:3])
def test_transformers_computes_the_same_model(written, kind: str) -> None:
    """Flash-Next's choice of keys flips where scores are near each other; test_flash_oracle.py compares it."""
    decoder = load_decoder(written[kind], load_kernels("c", "float32", 2), 256)
    checks = list(compare_with_transformers(decoder, written[kind]))
    assert len(checks) == 5 and all(check.passed for check in checks), checks


def test_the_commands_make_one_and_say_what_it_is(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        result = CliRunner().invoke(app, [*arguments])
        assert result.exit_code == 0, result.output
        return result.output

    out = str(tmp_path / "model")
    assert "qwen3_next" in run("checkpoint", "tiny", "--kind", "qwen3_next", "--fp8", "--drafter", "--out", out)
    assert " bytes F8_E4M3" in run("doctor", out, "--no-oracle", "--kernels", "torch")
    plan = run("plan", out, "--gpu-memory", "1GB", "--context", "4096", "--json", str(tmp_path / "plan.json"))
    assert "of it in FP8" in plan
    said = json.loads((tmp_path / "plan.json").read_text())
    assert 0 < said["fp8_bytes"] < said["weights_bytes"]


def test_projections_and_experts_stay_in_fp8(written) -> None:
    decoder = load_decoder(written["qwen3_next"], load_kernels("c", "bfloat16", 1), 64)
    for layer in decoder.layers:
        assert isinstance(layer.mixer.out, Fp8Linear) and isinstance(layer.mixer.project[0], Fp8Linear)
        assert isinstance(layer.feed.gate_up, Fp8Experts) and isinstance(layer.feed.down, Fp8Experts)
        assert isinstance(layer.feed.shared.gate_up, Fp8Linear) and isinstance(layer.feed.shared.down, Fp8Linear)
        assert not isinstance(layer.feed.router, Fp8Linear)
    delta = decoder.layers[0].mixer.project
    assert len(delta) == 2 and not isinstance(delta[1], Fp8Linear)  # in_proj_ba
    drafter = load_mtp(written["qwen3_next"], decoder)
    assert isinstance(drafter, Mtp)
    assert isinstance(drafter.layer.mixer.out, Fp8Linear) and isinstance(drafter.layer.feed.down, Fp8Experts)


def test_the_drafter_of_residual_streams_stays_in_fp8_too(written) -> None:
    decoder = load_decoder(written["qwen4_exp"], load_kernels("c", "bfloat16", 1), 64)
    layer = load_mtp(written["qwen4_exp"], decoder).layer
    assert isinstance(layer.mixer.out, Fp8Linear) and isinstance(layer.feed.down, Fp8Experts)


def test_experts_packed_into_one_tensor_are_the_same(written, tmp_path) -> None:
    packed = Path(shutil.copytree(written["qwen3_5_moe"], tmp_path / "packed"))

    def pack(tensors: dict[str, torch.Tensor]) -> None:
        for at in sorted({name.split("experts.")[0] + "experts." for name in tensors if ".experts.0." in name}):
            parts = {}
            for end in (".weight", ".weight_scale_inv"):
                for use in ("gate", "up", "down"):
                    each = [tensors.pop(f"{at}{e}.{use}_proj{end}") for e in range(6)]
                    parts[use] = torch.stack([x.view(torch.uint8) if x.dtype == FP8 else x for x in each])
                if end == ".weight":
                    values = torch.cat([parts["gate"], parts["up"]], 1).view(FP8)
                    tensors |= {f"{at}gate_up_proj": values, f"{at}down_proj": parts["down"].view(FP8)}
                    gate, up = parts["gate"], parts["up"]
                    assert gate.shape[1] + up.shape[1] <= 128  # one block, so gate and up must share a scale
                else:
                    tensors |= {f"{at}gate_up_proj_scale_inv": parts["gate"], f"{at}down_proj_scale_inv": parts["down"]}

    def one_scale(tensors: dict[str, torch.Tensor]) -> None:
        for name in [name for name in tensors if name.endswith("up_proj.weight_scale_inv") and ".experts." in name]:
            tensors[name] = tensors[name.replace("up_proj", "gate_proj")].clone()

    single = Path(shutil.copytree(written["qwen3_5_moe"], tmp_path / "single"))
    edit_tensors(single, one_scale)
    edit_tensors(packed, one_scale)
    edit_tensors(packed, pack)
    tokens = list(range(40))
    assert torch.equal(logits(packed, "c", "bfloat16", tokens), logits(single, "c", "bfloat16", tokens))


def test_scales_may_be_in_bfloat16(folder: Path, tmp_path: Path) -> None:
    """As Qwen's releases have them."""

    def change(tensors: dict[str, torch.Tensor]) -> None:
        for name in [name for name in tensors if name.endswith("_scale_inv")]:
            tensors[name] = tensors[name].bfloat16()

    edit_tensors(folder, change)
    tokens = list(range(30))
    expected = logits(stands_for(folder, tmp_path / "same"), "c", "bfloat16", tokens)
    assert torch.equal(logits(folder, "c", "bfloat16", tokens), expected)


def test_native_numerics_take_it_dequantised(written, tmp_path) -> None:
    decoders = [
        load_decoder(each, NativeKernels(1), 64)
        for each in (written["qwen3_5"], stands_for(written["qwen3_5"], tmp_path / "same"))
    ]
    ours, same = (decoder.layers[0].mixer.out.data for decoder in decoders)
    assert ours.dtype == torch.bfloat16 and torch.equal(ours, same)


def test_plan_counts_a_byte_a_weight_and_four_a_scale(written, tmp_path) -> None:
    folder = written["qwen3_next"]
    tensors = load_file(folder / "model.safetensors")
    quantized = [tensor for tensor in tensors.values() if tensor.dtype == FP8]
    own = weight_bytes(folder, read_spec(folder), torch.bfloat16)
    same = stands_for(folder, tmp_path / "same")
    wide = weight_bytes(same, read_spec(same), torch.bfloat16)
    scales = sum(4 * tensor.numel() for name, tensor in tensors.items() if name.endswith("_scale_inv"))
    saved = (wide.model + wide.drafter) - (own.model + own.drafter)
    assert saved == sum(tensor.numel() for tensor in quantized) - scales > 0


def test_the_head_may_be_in_fp8_and_a_table_is_dequantised(written, tmp_path) -> None:
    folder = Path(shutil.copytree(written["qwen3_5"], tmp_path / "model"))

    def change(tensors: dict[str, torch.Tensor]) -> None:
        for name in ("lm_head.weight", "model.embed_tokens.weight"):
            tensors[name] = tensors[name].to(FP8)
            tensors[f"{name}_scale_inv"] = torch.full((4, 2), 0.5)

    edit_tensors(folder, change)
    edit_quantization(folder, modules_to_not_convert=[])
    tokens = list(range(20))
    expected = logits(stands_for(folder, tmp_path / "same"), "c", "bfloat16", tokens)
    assert torch.equal(logits(folder, "c", "bfloat16", tokens), expected)


def edit_quantization(folder: Path, **fields: object) -> None:
    edit_config(folder, **{KEPT: json.loads((folder / "config.json").read_text())[KEPT] | fields})


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"quant_method": "gptq"}, "quant_method='gptq'"),
        ({"quant_method": None}, "quant_method=None"),
        ({"weight_block_size": [64, 64]}, r"weight_block_size=\[64, 64\]"),
        ({"weight_block_size": None}, "weight_block_size=None"),
        ({"activation_scheme": "static"}, "activation_scheme='static'"),
        ({"fmt": "e5m2"}, "fmt='e5m2'"),
        ({"expert_dtype": "fp4"}, "expert_dtype='fp4'"),
        ({"modules_to_not_convert": "lm_head"}, "modules_to_not_convert must be a list"),
        ({"modules_to_not_convert": ["layers.*("]}, "modules_to_not_convert: 'layers"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_field_that_cannot_be_honoured_is_named(folder: Path, fields: dict[str, object], named: str) -> None:
    edit_quantization(folder, **fields)
    with pytest.raises(CheckpointError, match=f"quantization_config.*{named}"):
        read_spec(folder)


Q = "model.layers.3.self_attn.q_proj.weight"


def test_fp8_without_a_quantization_config_is_refused(folder: Path) -> None:
    edit_config(folder, **{KEPT: None})
    with pytest.raises(CheckpointError, match=r"is torch.float8_e4m3fn, and config.json has no quantization_config"):
        load(folder)


def test_missing_scales_are_named(folder: Path) -> None:
    edit_tensors(folder, lambda tensors: tensors.pop(f"{Q}_scale_inv"))
    with pytest.raises(CheckpointError, match=r"q_proj\.weight_scale_inv is missing"):
        load(folder)


def test_scales_of_another_shape_are_named_with_both_shapes(folder: Path) -> None:
    edit_tensors(folder, lambda tensors: tensors.update({f"{Q}_scale_inv": torch.ones(1, 1)}))
    with pytest.raises(CheckpointError, match=r"weight_scale_inv has shape \[1, 1\], expected \[2, 2\]"):
        load(folder)


def test_scales_of_another_type_are_named(folder: Path) -> None:
    edit_tensors(folder, lambda tensors: tensors.update({f"{Q}_scale_inv": torch.ones(2, 2).to(torch.float8_e8m0fnu)}))
    with pytest.raises(CheckpointError, match=r"weight_scale_inv is torch\.float8_e8m0fnu"):
        load(folder)


def test_scales_that_belong_to_nothing_are_an_extra_tensor(folder: Path) -> None:
    edit_tensors(folder, lambda tensors: tensors.update({Q: tensors[Q].float()}))
    with pytest.raises(CheckpointError, match=r"does not have: .*q_proj\.weight_scale_inv"):
        load(folder)


def test_a_module_that_is_said_to_be_kept_cannot_be_in_fp8(folder: Path) -> None:
    edit_quantization(folder, modules_to_not_convert=["model.layers.3.self_attn"])
    with pytest.raises(CheckpointError, match=r"q_proj\.weight is .*modules_to_not_convert names it"):
        load(folder)


def test_an_n_gram_table_in_fp8_is_refused(written, tmp_path) -> None:
    folder = Path(shutil.copytree(written["qwen4_exp"], tmp_path / "model"))
    name = "model.layers.0.ple.ple_embedding.ngram_embedding.shard_0.weight"
    edit_tensors(folder, lambda tensors: tensors.update({name: tensors[name].to(FP8)}))
    with pytest.raises(CheckpointError, match="n-gram tables"):
        load(folder)


@pytest.mark.parametrize(
    ("module", "kept"),
    [
        ("lm_head", True),
        ("model.layers.1.mlp.gate", True),
        ("model.layers.11.mlp.gate", False),
        ("model.layers.1.mlp.gate_proj", False),
        ("model.layers.2.mlp.up_proj", True),
        ("model.layers.22.mlp.up_proj", False),
        ("model.layers.5.linear_attn.in_proj_ba", True),
        ("model.layers.5.linear_attn.in_proj_qkvz", False),
        ("visual.blocks.0.fc1", True),
    ],
)
def test_names_match_to_the_end_of_a_part(module: str, kept: bool) -> None:
    """Names from the start, patterns, and ends."""
    names = ("lm_head", "model.layers.1.mlp.gate", "model.layers.2", r"model.layers.\d.linear_attn.in_proj_ba", "fc1")
    assert Quantization(names).keeps(module) is kept
    assert not Quantization(()).keeps(module)
