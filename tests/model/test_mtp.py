"""Drafters of every kind load; what a drafter must not have is named."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from isotherm.core.constants import blocks_for
from isotherm.core.errors import CheckpointError
from isotherm.engine.doctor import open_decoder
from isotherm.model.mtp import has_mtp, load_mtp, mtp_state
from isotherm.runner.forward import Sequenced

TOKENS = [(11 * i * i + 3) % 500 for i in range(131)]


def with_drafter(folder: Path, out: Path, **more: torch.Tensor) -> Path:
    """The checkpoint with a drafter whose layer is a copy of its last attention layer, and `more` mtp tensors."""
    weights = {name: tensor for file in folder.glob("*.safetensors") for name, tensor in load_file(file).items()}
    hidden = weights["model.norm.weight"].shape[0]
    layer = max(int(name.split(".")[2]) for name in weights if ".self_attn." in name)
    at = f"model.layers.{layer}."
    torch.manual_seed(3)
    drafter = {f"mtp.layers.0.{name.removeprefix(at)}": t.clone() for name, t in weights.items() if name.startswith(at)}
    drafter["mtp.fc.weight"] = torch.randn(hidden, 2 * hidden) * hidden**-0.5
    for norm in ("pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm"):
        drafter[f"mtp.{norm}.weight"] = torch.randn(hidden) * 0.1
    save_file(weights | drafter | {f"mtp.{name}": t for name, t in more.items()}, out / "model.safetensors")
    (out / "config.json").write_bytes((folder / "config.json").read_bytes())
    return out


@pytest.mark.parametrize("kind", ["qwen3_5", "qwen3_next", "qwen3_5_moe"])
@torch.inference_mode()
def test_a_drafter_of_each_kind_gives_the_same_bits_row_by_row(
    kind: str, checkpoints: dict[str, Path], tmp_path: Path
) -> None:
    folder = with_drafter(checkpoints[kind], tmp_path)
    decoder = open_decoder(folder, "bfloat16", "auto", 1)
    mtp = load_mtp(folder, decoder)
    runs = []
    for step in (130, 1):
        model, rows = Sequenced(decoder, len(TOKENS)), []
        store = mtp_state(decoder.spec, decoder.kernels, blocks_for(len(TOKENS)) + 1)
        for start in range(0, 130, step):
            batch, hidden = model.rows(TOKENS[start : start + step])
            after = torch.tensor(TOKENS[start + 1 : start + step + 1], dtype=torch.int32)
            rows.append(mtp.forward(decoder.kernels, batch, decoder.normed(hidden), after, store))
        runs.append(torch.cat(rows))
    assert torch.isfinite(runs[0]).all() and torch.equal(*runs)


def test_a_checkpoint_without_a_drafter_says_so(checkpoints: dict[str, Path]) -> None:
    folder = checkpoints["qwen3_5"]
    assert not has_mtp(folder)
    with pytest.raises(CheckpointError, match=r"fc\.weight"):
        load_mtp(folder, open_decoder(folder, "float32", "auto", 1))


def test_a_second_layer_is_refused_by_name(checkpoints: dict[str, Path], tmp_path: Path) -> None:
    folder = with_drafter(checkpoints["qwen3_5"], tmp_path, **{"layers.1.input_layernorm.weight": torch.zeros(64)})
    assert has_mtp(folder)
    with pytest.raises(CheckpointError, match=r"has 2 layers, and only one .*mtp\.layers\.1\.input_layernorm"):
        load_mtp(folder, open_decoder(folder, "float32", "auto", 1))
