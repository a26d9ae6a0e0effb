"""Every kind against transformers' own class on the same random weights."""

import json
import shutil
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from isotherm.kernels.load import load_kernels
from isotherm.model.load import load_decoder
from isotherm.runner.forward import logits_of

KINDS = ("qwen3_5", "qwen3_next", "qwen3_5_moe")
LENGTHS = (1, 63, 64, 65, 200, 1000)


def tokens(length: int) -> list[int]:
    return torch.randint(0, 512, (length,), generator=torch.Generator().manual_seed(length)).tolist()


@pytest.fixture(scope="module")
def expected(checkpoints: dict[str, Path]) -> dict[str, dict[int, torch.Tensor]]:
    """Logits of transformers in float32, by kind and length."""
    found = {}
    for kind in KINDS:
        model = transformers.AutoModelForCausalLM.from_pretrained(checkpoints[kind], dtype=torch.float32).eval()
        with torch.inference_mode():
            found[kind] = {length: model(torch.tensor([tokens(length)])).logits[0] for length in LENGTHS}
    return found


def worst(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    return float(((ours - theirs).norm(dim=1) / theirs.norm(dim=1)).max())


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_float32_logits_agree_with_transformers_within_1e_4(checkpoints, expected, kind: str, length: int) -> None:
    decoder = load_decoder(checkpoints[kind], load_kernels("c", "float32", 2), 1024)
    assert worst(logits_of(decoder, tokens(length)), expected[kind][length]) < 1e-4


@pytest.mark.parametrize("kind", KINDS)
def test_the_torch_form_agrees_with_transformers_within_1e_4(checkpoints, expected, kind: str) -> None:
    decoder = load_decoder(checkpoints[kind], load_kernels("torch", "float32", 1), 1024)
    assert worst(logits_of(decoder, tokens(65)), expected[kind][65]) < 1e-4


@pytest.mark.parametrize("kind", KINDS)
def test_bfloat16_logits_are_as_near_float32_as_transformers_own(checkpoints, expected, kind: str) -> None:
    """Single rows may be far off in any bfloat16 code (a small norm, a router's near-tie), so rows are compared as a set."""
    decoder = load_decoder(checkpoints[kind], load_kernels("c", "bfloat16", 2), 1024)
    model = transformers.AutoModelForCausalLM.from_pretrained(checkpoints[kind], dtype=torch.bfloat16).eval()
    with torch.inference_mode():
        theirs = model(torch.tensor([tokens(200)])).logits[0].float()
    exact = expected[kind][200]
    ours, reference = (
        ((logits - exact).norm(dim=1) / exact.norm(dim=1)).quantile(torch.tensor([0.5, 0.9]))
        for logits in (logits_of(decoder, tokens(200)), theirs)
    )
    assert float(ours[0]) < 5e-2
    assert (ours < 1.2 * reference).all()


def rewritten(source: Path, target: Path, rename, config=None) -> Path:  # type: ignore[no-untyped-def]
    """A copy of a checkpoint whose tensors are passed through `rename` and whose config is updated."""
    shutil.copytree(source, target)
    tensors = rename(load_file(target / "model.safetensors"))
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, target / "model.safetensors")
    if config:
        path = target / "config.json"
        path.write_text(json.dumps(config(json.loads(path.read_text()))))
    return target


def test_a_multimodal_checkpoint_gives_its_text_model_and_skips_the_vision_tower(
    checkpoints, expected, tmp_path, caplog
) -> None:
    def rename(tensors):  # type: ignore[no-untyped-def]
        named = {name.replace("model.", "model.language_model.", 1): tensor for name, tensor in tensors.items()}
        return named | {"model.visual.patch_embed.weight": torch.zeros(2), "mtp.fc.weight": torch.zeros(2)}

    def config(raw):  # type: ignore[no-untyped-def]
        return {"model_type": "qwen3_5", "text_config": raw, "vision_config": {}}

    folder = rewritten(checkpoints["qwen3_5"], tmp_path / "multimodal", rename, config)
    with caplog.at_level("INFO", "isotherm"):
        decoder = load_decoder(folder, load_kernels("c", "float32", 1), 256)
    assert "vision tower" in caplog.text and "mtp" in caplog.text
    assert worst(logits_of(decoder, tokens(65)), expected["qwen3_5"][65]) < 1e-4


def test_packed_experts_give_the_bits_of_single_ones(checkpoints, tmp_path) -> None:
    def pack(tensors):  # type: ignore[no-untyped-def]
        packed = {name: tensor for name, tensor in tensors.items() if ".experts." not in name}
        for layer in range(4):
            at = f"model.layers.{layer}.mlp.experts."

            def stack(name: str, at: str = at) -> torch.Tensor:
                return torch.stack([tensors[f"{at}{expert}.{name}_proj.weight"] for expert in range(6)])

            packed[f"{at}gate_up_proj"] = torch.cat([stack("gate"), stack("up")], dim=1)
            packed[f"{at}down_proj"] = stack("down")
        return packed

    kernels = load_kernels("c", "bfloat16", 1)
    folder = rewritten(checkpoints["qwen3_5_moe"], tmp_path / "packed", pack)
    ours = logits_of(load_decoder(folder, kernels, 256), tokens(65))
    assert torch.equal(ours, logits_of(load_decoder(checkpoints["qwen3_5_moe"], kernels, 256), tokens(65)))
