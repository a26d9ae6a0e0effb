"""Flash-Next (qwen4_exp) against transformers' own class on the same random weights, every feature on and each alone."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from isotherm.kernels.load import load_kernels
from isotherm.model.load import load_decoder
from isotherm.model.tiny import write_tiny
from isotherm.runner.forward import logits_of

END = 511
PLAIN: dict[str, Any] = {"hc_count": 2, "ple_layer_ids": [], "indexer_budget": 4096, "output_gate_type": None}
"""As few features as there can be: two streams, no n-grams, every key attended to, the plain gate."""
ALONE: dict[str, dict[str, Any]] = {
    "plain": {},
    "four streams": {"hc_count": 4, "hc_lowrank": 7},
    "n-grams": {"ple_layer_ids": [2]},
    "n-grams of four tokens": {"ple_layer_ids": [1, 2], "ngram_size": 4, "ple_conv_kernel_size": 3},
    "indexer": {"indexer_budget": 32},
    "indexer of one head": {"indexer_n_heads": 1, "indexer_budget": 64},
    "sigmoid gate": {"output_gate_type": "sigmoid"},
    "one expert of one": {"num_experts": 1, "num_experts_per_tok": 1},
    "weights as routed": {"norm_topk_prob": False},
}


def tokens(length: int, ends: float = 0.1) -> list[int]:
    random = torch.Generator().manual_seed(length)
    drawn = torch.randint(0, END, (length,), generator=random)
    drawn[torch.rand(length, generator=random) < ends] = END
    return drawn.tolist()


class StableTopk:
    """In place of Tensor.topk, whose ties are in no order. ties: how often the last one chosen equals the first one left out."""

    def __init__(self) -> None:
        self.ties = 0

    def __call__(self, scores: torch.Tensor, k: int, dim: int = -1) -> Any:
        values, indices = torch.sort(scores, dim=dim, descending=True, stable=True)
        if scores.dim() == 1 and k < len(values):
            self.ties += bool(values[k - 1] == values[k])
        return torch.return_types.topk((values.narrow(dim, 0, k), indices.narrow(dim, 0, k)))


def theirs(folder: Path, ids: list[int], monkeypatch: pytest.MonkeyPatch) -> tuple[torch.Tensor, int]:
    """transformers' logits, and the ties that its indexers met."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with monkeypatch.context() as patch, torch.inference_mode():
        topk = StableTopk()
        patch.setattr(torch.Tensor, "topk", lambda self, *args, **names: topk(self, *args, **names))
        return model(torch.tensor([ids])).logits[0], topk.ties


def worst(ours: torch.Tensor, expected: torch.Tensor) -> float:
    return float(((ours - expected).norm(dim=1) / expected.norm(dim=1)).max())


@pytest.mark.parametrize("length", [1, 7, 8, 63, 65, 200])
def test_with_every_feature_on_logits_agree_within_1e_4(checkpoints, monkeypatch, length: int) -> None:
    folder, ids = checkpoints["qwen4_exp"], tokens(length)
    decoder = load_decoder(folder, load_kernels("c", "float32", 2), 256)
    assert worst(logits_of(decoder, ids), theirs(folder, ids, monkeypatch)[0]) < 1e-4


def test_the_torch_form_agrees_within_1e_4(checkpoints, monkeypatch) -> None:
    folder, ids = checkpoints["qwen4_exp"], tokens(90)
    decoder = load_decoder(folder, load_kernels("torch", "float32", 1), 256)
    assert worst(logits_of(decoder, ids), theirs(folder, ids, monkeypatch)[0]) < 1e-4


@pytest.mark.parametrize("feature", ALONE)
def test_each_feature_alone_agrees_within_1e_4(tmp_path, monkeypatch, feature: str) -> None:
    write_tiny("qwen4_exp", tmp_path, seed=3, vocab_size=512, eos_token_id=END, **PLAIN | ALONE[feature])
    ids = tokens(140)
    expected, ties = theirs(tmp_path, ids, monkeypatch)
    decoder = load_decoder(tmp_path, load_kernels("c", "float32", 2), 256)
    assert worst(logits_of(decoder, ids), expected) < 1e-4
    if feature == "indexer of one head":
        assert ties > 30, "a tie must be met, or their order is not tested"


def test_every_feature_changes_the_logits(tmp_path) -> None:
    """Weights that do nothing would agree with anything."""
    seen = []
    for name in ("plain", "n-grams", "indexer", "sigmoid gate"):
        folder = tmp_path / name
        write_tiny("qwen4_exp", folder, seed=3, vocab_size=512, eos_token_id=END, **PLAIN | ALONE[name])
        seen.append(logits_of(load_decoder(folder, load_kernels("c", "float32", 1), 256), tokens(100))[-1])
    assert all(float((seen[0] - other).norm() / seen[0].norm()) > 1e-2 for other in seen[1:])


def test_bfloat16_logits_are_as_near_float32_as_transformers_own(checkpoints, monkeypatch) -> None:
    folder, ids = checkpoints["qwen4_exp"], tokens(120)
    exact, _ = theirs(folder, ids, monkeypatch)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).eval()
    with torch.inference_mode():
        reference = model(torch.tensor([ids])).logits[0].float()
    ours = logits_of(load_decoder(folder, load_kernels("c", "bfloat16", 2), 256), ids)
    off, their_off = (((x - exact).norm(dim=1) / exact.norm(dim=1)).quantile(0.5) for x in (ours, reference))
    assert float(off) < 1.2 * float(their_off)


def rewritten(source: Path, target: Path, change: Any, **fields: Any) -> Path:
    """A copy whose tensors are passed through `change` and whose config has other fields."""
    shutil.copytree(source, target)
    tensors = change(load_file(target / "model.safetensors"))
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, target / "model.safetensors")
    path = target / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))
    return target


def test_a_checkpoint_that_says_full_attention_gives_the_same_model(checkpoints, tmp_path) -> None:
    """Released ones do, in a multimodal folder, without the numbers of the hash, which follow from config.json."""
    source, ids = checkpoints["qwen4_exp"], tokens(80)
    layers = ["linear_attention"] * 3 + ["full_attention"]

    def change(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        kept = {name: t for name, t in tensors.items() if "multipliers" not in name and "ngram_heads" not in name}
        named = {name.replace("model.", "model.language_model.", 1): t for name, t in kept.items()}
        return named | {"model.visual.patch_embed.weight": torch.zeros(2), "mtp.fc.weight": torch.zeros(2)}

    folder = rewritten(source, tmp_path / "released", change, layer_types=layers)
    raw = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({"model_type": "qwen4_exp", "text_config": raw}))
    kernels = load_kernels("c", "float32", 1)
    ours = logits_of(load_decoder(folder, kernels, 128), ids)
    assert torch.equal(ours, logits_of(load_decoder(source, kernels, 128), ids))


def test_the_table_is_mapped_and_not_loaded(checkpoints) -> None:
    """Its rows lie in the file, as one mapping of this process has it."""
    folder = checkpoints["qwen4_exp"]
    decoder = load_decoder(folder, load_kernels("c", "float32", 1), 128)
    shards = decoder.layers[0].ngram.table.shards  # type: ignore[union-attr]
    mapped = [
        tuple(int(edge, 16) for edge in line.split()[0].split("-"))
        for line in Path("/proc/self/maps").read_text().splitlines()
        if line.endswith(str(folder / "model.safetensors"))
    ]
    assert len(shards) == 5
    assert all(any(first <= shard.data_ptr() < last for first, last in mapped) for shard in shards)
