"""A smoke run on the CPU: it trains, resumes, exports, and other readers agree with what was trained."""

import csv
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from training.decode import draft_acceptance, greedy
from training.export import export, from_checkpoint
from training.loss import block_mask
from training.network import Context, Network, Shape
from training.optimizer import orthogonalise
from training.train import arguments, learning_rate, schedule_step, train

TINY = Shape(vocab_size=6144, hidden_size=32, intermediate_size=48, num_hidden_layers=4, head_dim=32, num_attention_heads=2,
             num_key_value_heads=1, linear_heads=1, linear_head_dim=32, rotary_dim=8)  # fmt: skip


def run(monkeypatch: pytest.MonkeyPatch, out: Path, steps: int, *more: str) -> list[dict[str, str]]:
    options = [
        "--rows",
        "1",
        "--length",
        "1024",
        "--workers",
        "0",
        "--shape",
        "tiny",
        "--warmup",
        "2",
        "--log-every",
        "1",
        "--long-share",
        "0",
    ]
    monkeypatch.setattr(sys, "argv", ["train", "--out", str(out), "--steps", str(steps), *options, *more])
    train(arguments())
    with (out / "loss.csv").open() as file:
        return list(csv.DictReader(file))


def context(network: Network, length: int) -> Context:
    position = torch.arange(length)[None]
    document = torch.zeros_like(position)
    return Context(document, position, position[:, ::64] == 0, block_mask(document), network.rope(position))


@pytest.fixture
def network() -> Network:
    torch.manual_seed(0)
    made = Network(TINY)
    for parameter in made.parameters():
        if parameter.ndim == 1:
            parameter.data += 0.1 * torch.randn_like(parameter)
    return made


def test_the_loss_falls_and_a_resumed_run_continues_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    whole = run(monkeypatch, tmp_path / "whole", 4, "--cooldown", "0.01")
    assert float(whole[-1]["loss"]) < float(whole[0]["loss"])
    run(monkeypatch, tmp_path / "parts", 2, "--cooldown", "0.01", "--save-every", "2")
    parts = run(monkeypatch, tmp_path / "parts", 4, "--cooldown", "0.01")
    assert [row["loss"] for row in parts if int(row["step"]) >= 2] == [
        row["loss"] for row in whole if int(row["step"]) >= 2
    ]
    assert (tmp_path / "parts" / "model" / "model.safetensors").is_file()


def test_transformers_loads_the_export_and_gives_the_same_logits(network: Network, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    export(network, tmp_path)
    network.load_state_dict(from_checkpoint(load_file(tmp_path / "model.safetensors")))
    other, report = transformers.Qwen3_5ForCausalLM.from_pretrained(
        tmp_path, dtype=torch.float32, output_loading_info=True
    )
    assert not report["missing_keys"] and not report["mismatched_keys"]
    tokens = torch.randint(0, 6000, (1, 192), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        torch.testing.assert_close(
            network.logits(network.hidden(tokens, context(network, 192))), other(tokens).logits, rtol=1e-3, atol=1e-4
        )


def test_a_document_does_not_see_its_neighbour_in_the_row(network: Network) -> None:
    tokens = torch.randint(0, 6000, (1, 128), generator=torch.Generator().manual_seed(2))
    document = torch.arange(128)[None] // 64
    position = torch.arange(128)[None] % 64
    packed = Context(document, position, position[:, ::64] == 0, block_mask(document), network.rope(position))
    with torch.no_grad():
        alone = network.hidden(tokens[:, 64:], context(network, 64))
        torch.testing.assert_close(network.hidden(tokens, packed)[:, 64:], alone, rtol=1e-4, atol=1e-5)


def test_batched_decoding_takes_the_largest_logit_of_a_whole_pass(network: Network) -> None:
    prompts = [list(range(5, 70)), [9, 8, 7]]
    for prompt, written in zip(prompts, greedy(network, prompts, end=-1, limit=5), strict=True):
        sequence = prompt + written
        padded = torch.tensor([sequence + [0] * (-len(sequence) % 64)])
        with torch.no_grad():
            best = network.logits(network.hidden(padded, context(network, padded.shape[1])))[0].argmax(-1)
        assert best[len(prompt) - 1 : len(sequence) - 1].tolist() == written
        accepted, drafted = draft_acceptance(network, prompt, written)
        assert 0 <= accepted <= drafted == 4


def test_the_rate_warms_up_and_cools_down() -> None:
    rates = [learning_rate(step, 100, 10, 0.5) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[30] == 1.0
    assert rates[99] == pytest.approx(0.02)


def test_a_run_that_must_end_by_a_time_goes_through_its_whole_schedule() -> None:
    assert schedule_step(10, 1000, 50.0, 0.0) == 10
    assert schedule_step(10, 1000, 50.0, 100.0) == 500
    assert schedule_step(900, 1000, 50.0, 100.0) == 900


def test_an_orthogonalised_matrix_has_singular_values_near_one() -> None:
    values = torch.linalg.svdvals(orthogonalise(torch.randn(2, 48, 32)).float())
    assert values.min() > 0.5 and values.max() < 1.4
