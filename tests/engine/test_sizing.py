"""What `isotherm plan` says, against what an engine really allocates."""

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from isotherm.cli.main import app
from isotherm.core.config import CacheConfig
from isotherm.core.errors import ConfigError
from isotherm.engine.sizing import Asked, size
from isotherm.kernels.load import load_kernels
from isotherm.model.hf_config import read_spec
from isotherm.model.load import load_decoder
from isotherm.model.mtp import load_mtp
from isotherm.model.ngram import NgramTable
from isotherm.model.state import allocate
from isotherm.model.tiny import write_tiny
from isotherm.runner.capacity import Floor, plan_capacity

KINDS = ("qwen3_5", "qwen3_next", "qwen3_5_moe", "qwen4_exp")
ASKED = Asked(memory=256 << 20, context=2048, conversations=4)


def tensors_of(value: object) -> Iterator[torch.Tensor]:
    """Every tensor in nested dataclasses, lists and dictionaries; tables on disk are not in memory."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from (tensor for item in value.values() for tensor in tensors_of(item))
    elif isinstance(value, tuple | list):
        yield from (tensor for item in value for tensor in tensors_of(item))
    elif is_dataclass(value) and not isinstance(value, NgramTable):
        yield from (tensor for field in fields(value) for tensor in tensors_of(getattr(value, field.name)))


def held(value: object) -> int:
    return sum({tensor.data_ptr(): tensor.nbytes for tensor in tensors_of(value)}.values())


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_as_many_bytes_as_a_loaded_model_holds(checkpoints, kind: str) -> None:
    said = size(checkpoints[kind], ASKED, torch.float32).weights
    decoder = load_decoder(checkpoints[kind], load_kernels("torch", "float32", 1), 64)
    assert said.model == held((decoder.table, decoder.layers, decoder.norm, decoder.head))
    assert (said.mapped > 0) == (kind == "qwen4_exp")


@pytest.mark.parametrize("kernels", ["torch", "c"])
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_states_and_lanes_are_as_many_bytes_as_are_allocated(checkpoints, kind: str, kernels: str) -> None:
    """The C kernels pad odd sizes, which these tiny models have."""
    said, spec = size(checkpoints[kind], ASKED), read_spec(checkpoints[kind])
    state = allocate(spec, load_kernels(kernels, "bfloat16", 1), 7, 5, 3)  # type: ignore[arg-type]
    for tensors, count, each in (
        (state.by_block(), 7, said.block),
        (state.by_slot(), 5, said.slot),
        (state.by_lane(), 3, said.lane),
    ):
        real = sum(tensor.nbytes for tensor in tensors.values())
        assert real == count * each if kernels == "torch" else count * each <= real <= 1.4 * count * each


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_to_fit_is_what_the_engine_divides(checkpoints, kind: str) -> None:
    said, spec = size(checkpoints[kind], ASKED), read_spec(checkpoints[kind])
    kernels = load_kernels("torch", "bfloat16", 1)
    divided = plan_capacity(spec, kernels, CacheConfig(memory_bytes=said.budget), 4, Floor(32, 5), 0)
    assert said.capacity == divided
    assert said.fit == (divided.blocks - 1) // 32 and said.snapshots == divided.slots - 1 - 8
    assert divided.blocks * said.block + divided.slots * said.slot <= said.budget + said.block + said.slot


@pytest.mark.parametrize("kind", KINDS)
def test_enough_memory_is_enough_and_a_little_less_is_not(checkpoints, kind: str) -> None:
    tight = Asked(memory=96 << 20, context=8192, conversations=40)
    said = size(checkpoints[kind], tight)
    assert said.fit < 40
    assert size(checkpoints[kind], replace(tight, memory=said.enough)).fit == 40
    assert size(checkpoints[kind], replace(tight, memory=said.enough - said.enough // 50)).fit < 40


@pytest.mark.parametrize("kind", KINDS)
def test_the_context_that_is_advised_fits_and_the_next_one_does_not(checkpoints, kind: str) -> None:
    tight = Asked(memory=96 << 20, context=8192, conversations=40)
    longest = size(checkpoints[kind], tight).longest
    assert 0 < longest < 8192 and longest % 64 == 0
    assert size(checkpoints[kind], replace(tight, context=longest)).fit >= 40
    assert size(checkpoints[kind], replace(tight, context=longest + 64)).fit < 40


def test_memory_that_holds_no_weights_fits_nothing(checkpoints) -> None:
    said = size(checkpoints["qwen3_5"], replace(ASKED, memory=1 << 20))
    assert (said.capacity, said.fit, said.longest, said.snapshots) == (None, 0, 0, 0)
    assert said.enough > 1 << 20


def test_a_context_beyond_the_checkpoints_is_refused(checkpoints) -> None:
    with pytest.raises(ConfigError, match="max_model_len"):
        size(checkpoints["qwen3_5"], replace(ASKED, context=1 << 20))


@pytest.mark.parametrize("kind", ["qwen3_next", "qwen4_exp"])
def test_a_drafter_is_as_many_bytes_as_it_holds_and_its_state_as_is_allocated(tmp_path, kind: str) -> None:
    write_tiny(kind, tmp_path, drafter=True, vocab_size=512, eos_token_id=511)
    said = size(tmp_path, replace(ASKED, drafter=True), torch.float32)
    kernels = load_kernels("torch", "float32", 1)
    decoder = load_decoder(tmp_path, kernels, 64)
    shared = (decoder.table, decoder.head, decoder.rope)
    assert said.weights.drafter == held((shared, load_mtp(tmp_path, decoder))) - held(shared)
    state = allocate(decoder.spec, kernels, 7, 5, 3, drafter=True)
    for tensors, count, each in (
        (state.by_block(), 7, said.block),
        (state.by_slot(), 5, said.slot),
        (state.by_lane(), 3, said.lane),
    ):
        assert sum(tensor.nbytes for tensor in tensors.values()) == count * each


def test_a_drafter_and_a_vision_tower_are_counted_apart(checkpoints, tmp_path) -> None:
    folder = tmp_path / "more"
    folder.mkdir()
    for path in checkpoints["qwen3_5"].iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    tensors = load_file(folder / "model.safetensors")
    parts = {"mtp.fc.weight": torch.zeros(64, 128), "model.visual.patch.weight": torch.zeros(9, 9)}
    save_file(tensors | parts, folder / "model.safetensors")
    plain, said = size(checkpoints["qwen3_5"], ASKED).weights, size(folder, ASKED).weights
    assert said == replace(plain, drafter=64 * 128 * 2, vision=81 * 4)
    with_drafter = size(folder, replace(ASKED, drafter=True))
    assert with_drafter.budget < size(folder, ASKED).budget and with_drafter.block > size(folder, ASKED).block


def test_a_host_tier_is_divided_as_the_engine_divides_it(checkpoints) -> None:
    said = size(checkpoints["qwen3_next"], replace(ASKED, offload_bytes=64 << 20))
    assert (said.host_blocks, said.host_slots) == ((32 << 20) // said.block, (32 << 20) // said.slot)
    command = ["plan", str(checkpoints["qwen3_next"]), "--gpu-memory", "256M", "--context", "2048"]
    told = CliRunner().invoke(app, [*command, "--kv-offloading-size", "0.0625"]).output
    assert f"64.0 MiB for {said.host_blocks:,} blocks" in told and f"{said.host_slots:,} snapshots" in told
    assert "host tier" not in CliRunner().invoke(app, command).output


def test_the_command_says_what_fits_and_what_to_change(checkpoints, tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    command = ["plan", str(checkpoints["qwen4_exp"]), "--context", "8k", "--json", str(told)]
    good = CliRunner().invoke(app, [*command, "--gpu-memory", "1GB", "--conversations", "2"])
    assert good.exit_code == 0 and "2 conversations of 8,000 tokens fit at once" in good.stdout
    assert "never loaded" in good.stdout
    bad = CliRunner().invoke(app, [*command, "--gpu-memory", "88M", "--conversations", "16"])
    assert bad.exit_code == 1
    for change in ("conversations:", "--max-model-len", "memory:"):
        assert change in bad.stdout
    record = json.loads(told.read_text())
    assert record["conversations_that_fit"] < 16 and record["blocks"] > 0 and record["snapshot_bytes"] > 0
