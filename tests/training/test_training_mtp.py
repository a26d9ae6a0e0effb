"""The drafter that the engine loads computes what the training code trained."""

import itertools
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from training.export import from_checkpoint
from training.layers import Context
from training.network import Network, Shape

from isotherm.core.constants import blocks_for
from isotherm.engine.doctor import open_decoder
from isotherm.engine.drafts import count_first_drafts
from isotherm.model.mtp import load_mtp, mtp_state
from isotherm.model.source import EMBEDDED
from isotherm.runner.forward import Sequenced

TOKENS = [(7 * i * i + 13 * i + 5) % 6000 for i in range(193)]


@pytest.fixture(scope="module")
def network() -> Network:
    network = Network(Shape(), torch.float32)
    network.load_state_dict(from_checkpoint(load_file(EMBEDDED / "model.safetensors")))
    return network.eval()


def trained_drafts(network: Network, tokens: list[int]) -> torch.Tensor:
    """The training code's logits for token t+2 from each t but the last."""
    padded = -(-len(tokens) // 64) * 64
    ids = torch.tensor([tokens + [0] * (padded - len(tokens))])
    position = torch.arange(padded)[None]
    mask = torch.ones(padded, padded, dtype=torch.bool).tril()[None, None]
    context = Context(torch.zeros_like(position), position, position[:, ::64] == 0, mask, network.rope(position))
    with torch.no_grad():
        hidden = network.hidden(ids, context)
        after = torch.nn.functional.pad(ids[:, 1:], (0, 1))
        return network.logits(network.mtp(hidden, network.embed(after), context))[0, : len(tokens) - 1]


@torch.inference_mode()
def our_drafts(folder: Path, tokens: list[int], cuts: tuple[int, ...] = ()) -> torch.Tensor:
    decoder = open_decoder(folder, "float32", "auto", 1)
    mtp = load_mtp(folder, decoder)
    store = mtp_state(decoder.spec, decoder.kernels, blocks_for(len(tokens)) + 1)
    model, logits, edges = Sequenced(decoder, len(tokens)), [], [0, *cuts, len(tokens) - 1]
    for start, end in itertools.pairwise(edges):
        batch, hidden = model.rows(tokens[start:end])
        after = torch.tensor(tokens[start + 1 : end + 1], dtype=torch.int32)
        rows = mtp.forward(decoder.kernels, batch, decoder.normed(hidden), after, store)
        logits.append(mtp.logits(decoder.kernels, rows))
    return torch.cat(logits)


def test_the_drafters_logits_are_those_of_the_training_code(network: Network) -> None:
    expected, actual = trained_drafts(network, TOKENS), our_drafts(EMBEDDED, TOKENS)
    assert float(((actual - expected).norm(dim=1) / expected.norm(dim=1)).max()) < 1e-4


def test_a_wrong_order_of_embedding_and_row_would_be_seen(network: Network) -> None:
    left, right = network.mtp.fc.weight.data.chunk(2, dim=1)
    swapped = Network(Shape(), torch.float32)
    swapped.load_state_dict(network.state_dict())
    swapped.mtp.fc.weight.data = torch.cat((right, left), dim=1)
    expected, actual = trained_drafts(swapped, TOKENS), our_drafts(EMBEDDED, TOKENS)
    assert float(((actual - expected).norm(dim=1) / expected.norm(dim=1)).median()) > 0.1


def test_drafts_have_the_same_bits_however_the_passes_are_cut() -> None:
    assert torch.equal(our_drafts(EMBEDDED, TOKENS), our_drafts(EMBEDDED, TOKENS, (1, 63, 64, 100, 101)))


def test_the_drafter_is_found_under_a_model_prefix_too(tmp_path: Path) -> None:
    weights = load_file(EMBEDDED / "model.safetensors")
    renamed = {f"model.{name}" if name.startswith("mtp.") else name: tensor for name, tensor in weights.items()}
    save_file(renamed, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_bytes((EMBEDDED / "config.json").read_bytes())
    assert torch.equal(our_drafts(tmp_path, TOKENS[:40]), our_drafts(EMBEDDED, TOKENS[:40]))


def test_first_drafts_are_counted_against_what_was_written(network: Network) -> None:
    """Writing the training code's own drafts makes every one of them accepted; other tokens, none."""
    decoder = open_decoder(EMBEDDED, "float32", "auto", 1)
    mtp = load_mtp(EMBEDDED, decoder)
    prompt, written = TOKENS[:70], [TOKENS[70]]
    for _ in range(5):
        written.append(int(trained_drafts(network, prompt + written)[-1].argmax()))
    count = count_first_drafts(decoder, mtp, prompt, written)
    assert (count.accepted, count.drafted) == (5, 5)
    spoilt = count_first_drafts(decoder, mtp, prompt, [*written[:-1], (written[-1] + 1) % 6000])
    assert (spoilt.accepted, spoilt.drafted) == (4, 5)
