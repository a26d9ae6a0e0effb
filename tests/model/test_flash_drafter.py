"""Flash-Next's drafter against its formula, written here in float32 around transformers' own decoder layer and mixer."""

import copy
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from test_flash_oracle import StableTopk, tokens, worst
from torch import Tensor
from torch.nn.functional import linear

from isotherm.core.constants import blocks_for
from isotherm.core.errors import CheckpointError
from isotherm.kernels.load import load_kernels
from isotherm.kernels.segments import one_segment
from isotherm.model.decoder import Decoder
from isotherm.model.load import load_decoder
from isotherm.model.mtp import has_mtp, load_mtp, mtp_state, read_rows
from isotherm.model.stream_mtp import StreamMtp
from isotherm.model.tiny import write_tiny
from isotherm.runner.forward import Sequenced

END = 511


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a drafter no tensor of which is the model's own, its experts packed as released checkpoints have them."""
    folder = tmp_path_factory.mktemp("flash")
    write_tiny("qwen4_exp", folder, seed=2, drafter=True, vocab_size=512, eos_token_id=END)
    made = torch.Generator().manual_seed(4)

    def changed(tensor: Tensor) -> Tensor:
        return tensor + torch.randn(tensor.shape, generator=made) * 0.05

    weights = packed(load_file(folder / "model.safetensors"), "mtp.layers.0.mlp.experts.")
    save_file({n: changed(t) if n.startswith("mtp.") else t for n, t in weights.items()}, folder / "model.safetensors")
    return folder


def packed(weights: dict[str, Tensor], at: str) -> dict[str, Tensor]:
    def of(expert: int, name: str) -> Tensor:
        return weights[f"{at}{expert}.{name}_proj.weight"]

    count = sum(name.startswith(at) for name in weights) // 3
    gate_up = torch.stack([torch.cat((of(e, "gate"), of(e, "up"))) for e in range(count)])
    down = torch.stack([of(e, "down") for e in range(count)])
    kept = {name: tensor for name, tensor in weights.items() if not name.startswith(at)}
    return kept | {f"{at}gate_up_proj": gate_up, f"{at}down_proj": down}


@dataclass
class Theirs:
    """The definition. model: transformers' own, without a drafter. mtp: the drafter's tensors by name."""

    model: Any
    mtp: dict[str, Tensor]

    @classmethod
    def of(cls, folder: Path) -> "Theirs":
        weights = load_file(folder / "model.safetensors")
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        return cls(model, {n.removeprefix("mtp."): t for n, t in weights.items() if n.startswith("mtp.")})

    def part(self, like: torch.nn.Module, prefix: str) -> torch.nn.Module:
        """A module of the model with the drafter's weights."""
        made = copy.deepcopy(like)
        made.load_state_dict({n.removeprefix(prefix): t for n, t in self.mtp.items() if n.startswith(prefix)})
        return made

    def streams(self, ids: Sequence[int]) -> Tensor:
        """The model's rows before its last mixer [T, S*H]."""
        seen: list[Tensor] = []
        hook = self.model.model.hyper_connection_mixer.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
        self.model(torch.tensor([list(ids)]))
        hook.remove()
        return seen[0][0]

    def norm(self, x: Tensor, name: str) -> Tensor:
        return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (1 + self.mtp[f"{name}.weight"])

    def rows(self, x: Tensor, after: Sequence[int], apart: bool = False) -> Tensor:
        """x [T, S*H] and the token after each -> the drafter's rows before its mixer. apart: another norm, one a stream."""
        config, count = self.model.config, len(x)
        each = (count, config.hc_count, config.hidden_size)
        embedded = self.norm(self.model.model.embed_tokens(torch.tensor(list(after))), "pre_fc_norm_embedding")
        normed = self.norm(x, "pre_fc_norm_hidden").view(each)
        if apart:
            split = x.view(each)
            weight = (1 + self.mtp["pre_fc_norm_hidden.weight"]).view(each[1:])
            normed = split / torch.sqrt(split.pow(2).mean(-1, keepdim=True) + 1e-6) * weight
        joined = linear(embedded, self.mtp["fc_embedding.weight"])[:, None] + linear(
            normed, self.mtp["fc_hidden.weight"]
        )
        like = next(layer for layer in self.model.model.layers if hasattr(layer, "self_attn"))
        layer = self.part(like, "layers.0.")
        turn = self.model.model.rotary_emb(joined, torch.arange(count).expand(3, 1, count))
        return layer(joined.view(1, count, -1), turn, torch.ones(1, 1, count, count).tril().bool())[0]

    def logits(self, rows: Tensor) -> Tensor:
        mixer = self.part(self.model.model.hyper_connection_mixer, "hyper_connection_mixer.")
        return self.model.lm_head(mixer(rows[None])[0])


@pytest.fixture
def theirs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Theirs:
    topk = StableTopk()
    monkeypatch.setattr(torch.Tensor, "topk", lambda self, *args, **names: topk(self, *args, **names))
    return Theirs.of(folder)


def ours(folder: Path, kernels: str = "c") -> tuple[Decoder, StreamMtp]:
    decoder = load_decoder(folder, load_kernels(kernels, "float32", 2), 256)
    mtp = load_mtp(folder, decoder)
    assert isinstance(mtp, StreamMtp)
    return decoder, mtp


@pytest.mark.parametrize(("kernels", "length"), [("c", 2), ("c", 9), ("c", 66), ("c", 201), ("torch", 80)])
@torch.inference_mode()
def test_rows_and_logits_are_those_of_the_formula(folder: Path, theirs: Theirs, kernels: str, length: int) -> None:
    """201 rows are far beyond the budget of keys."""
    ids = tokens(length)
    decoder, mtp = ours(folder, kernels)
    batch, hidden = Sequenced(decoder, length).rows(ids[:-1])
    read = read_rows(mtp, decoder, hidden)
    store = mtp_state(decoder.spec, decoder.kernels, blocks_for(length) + 1)
    rows = mtp.forward(decoder.kernels, batch, read, torch.tensor(ids[1:], dtype=torch.int32), store)
    x = theirs.streams(ids[:-1])
    expected = theirs.rows(x, ids[1:])
    assert worst(rows, expected) < 1e-4
    assert worst(mtp.logits(decoder.kernels, rows), theirs.logits(expected)) < 1e-4
    assert worst(theirs.rows(x, ids[1:], apart=True), expected) > 1e-2, "another norm must show"


@torch.inference_mode()
def test_further_drafts_feed_the_streams_before_the_mixer_back(folder: Path, theirs: Theirs) -> None:
    ids, known = tokens(78), 70
    decoder, mtp = ours(folder)
    _, hidden = Sequenced(decoder, 80).rows(ids[:known])
    fed = theirs.streams(ids[:known])
    store = mtp_state(decoder.spec, decoder.kernels, 3)
    after = torch.tensor(ids[1 : known + 1], dtype=torch.int32)
    rows = mtp.forward(decoder.kernels, one_segment(0, known), read_rows(mtp, decoder, hidden), after, store)
    for place in range(known, 77):
        fed = torch.cat((fed, theirs.rows(fed, ids[1 : place + 1])[-1:]))
        token = torch.tensor([ids[place + 1]], dtype=torch.int32)
        rows = mtp.forward(decoder.kernels, one_segment(place, 1), rows[-1:], token, store)
        assert worst(rows, theirs.rows(fed, ids[1 : place + 2])[-1:]) < 1e-4


@pytest.mark.parametrize("root", ["mtp.", "model.mtp.", "language_model.mtp.", "model.language_model.mtp."])
def test_it_loads_under_every_root_and_from_several_files(folder: Path, tmp_path: Path, root: str) -> None:
    out = Path(shutil.copytree(folder, tmp_path / "other"))
    weights = load_file(out / "model.safetensors")
    (out / "model.safetensors").unlink()
    named = {n.replace("mtp.", root, 1) if n.startswith("mtp.") else n: t for n, t in weights.items()}
    where = {name: f"part-{place % 3}.safetensors" for place, name in enumerate(sorted(named))}
    for file in set(where.values()):
        save_file({n: named[n] for n in where if where[n] == file}, out / file)
    (out / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    assert has_mtp(out)
    (decoder, mtp), (_, other) = ours(folder), ours(out)
    rows = torch.randn(3, 192, generator=torch.Generator().manual_seed(1))
    assert torch.equal(mtp.logits(decoder.kernels, rows), other.logits(decoder.kernels, rows))
    assert torch.equal(mtp.fc_hidden.data, other.fc_hidden.data) and torch.equal(mtp.hidden_norm, other.hidden_norm)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"layers.1.mlp.gate.weight": torch.zeros(6, 64)}, r"mtp\.layers\.1\.mlp\.gate"),
        ({"embed_tokens.weight": torch.zeros(512, 64)}, r"mtp\.embed_tokens"),
        ({"fc_embedding.weight": torch.zeros(64, 128)}, r"fc_embedding\.weight has shape"),
        ({"pre_fc_norm_hidden.weight": torch.zeros(64)}, r"pre_fc_norm_hidden\.weight has shape"),
    ],
    ids=["a second layer", "an embedding", "a fused projection", "a norm of one stream"],
)
def test_what_a_drafter_must_not_have_is_named(
    folder: Path, tmp_path: Path, change: dict[str, Tensor], named: str
) -> None:
    out = Path(shutil.copytree(folder, tmp_path / "other"))
    weights = load_file(out / "model.safetensors") | {f"mtp.{name}": tensor for name, tensor in change.items()}
    save_file(weights, out / "model.safetensors")
    decoder = load_decoder(out, load_kernels("torch", "float32", 1), 64)
    with pytest.raises(CheckpointError, match=named):
        load_mtp(out, decoder)


def test_groups_of_one_key_are_refused(tmp_path: Path) -> None:
    """The drafter's entry 0 is none: its group would hold nothing."""
    write_tiny("qwen4_exp", tmp_path, drafter=True, vocab_size=512, eos_token_id=END, indexer_compress_ratio=1)
    decoder = load_decoder(tmp_path, load_kernels("torch", "float32", 1), 64)
    with pytest.raises(CheckpointError, match="indexer_compress_ratio=1"):
        load_mtp(tmp_path, decoder)
