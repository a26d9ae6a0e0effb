"""Building the C library: what is chosen, what is cached, and what is said when it cannot be done."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from isotherm.core.errors import ConfigError
from isotherm.kernels.c_provider import CKernels
from isotherm.kernels.load import load_kernels
from isotherm.kernels.native import build as building
from isotherm.kernels.native import isa as instruction_sets
from isotherm.kernels.native.isa import choose_dtype, choose_isa
from isotherm.kernels.torch_provider import TorchKernels

AVX512 = frozenset({"avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl"})


@pytest.fixture
def has(monkeypatch):
    """Pretend that the processor has these features and no others."""
    return lambda *features: monkeypatch.setattr(instruction_sets, "capabilities", lambda: frozenset(features))


@pytest.mark.parametrize(
    ("features", "isa", "dtype"),
    [
        ({*AVX512, "avx512_bf16", "amx_tile", "amx_bf16"}, "amx", torch.bfloat16),
        ({*AVX512, "avx512_bf16", "amx_tile"}, "avx512_bf16", torch.bfloat16),
        ({*AVX512, "avx512_bf16"}, "avx512_bf16", torch.bfloat16),
        (AVX512, "avx512", torch.float32),
        (AVX512 - {"avx512bw"}, "avx2", torch.float32),
        ({"avx2"}, "plain", torch.float32),
        ({"asimd", "bf16"}, "plain", torch.bfloat16),
        (set(), "plain", torch.float32),
    ],
    ids=["sapphire-rapids", "half-an-amx", "zen4", "skylake-server", "knights", "no-fma", "graviton3", "unknown"],
)
def test_capability_decides_instruction_set_and_dtype(has, monkeypatch, features, isa, dtype):
    monkeypatch.delenv("ISOTHERM_ISA", raising=False)
    has(*features)
    monkeypatch.setattr(instruction_sets, "_matrix_registers_granted", lambda: True)
    assert choose_isa() == isa
    assert choose_dtype("auto") == dtype
    assert choose_dtype("bfloat16") == torch.bfloat16
    assert choose_dtype("float32") == torch.float32


def test_amx_is_for_bfloat16_and_only_where_the_system_grants_it(has, monkeypatch):
    monkeypatch.delenv("ISOTHERM_ISA", raising=False)
    has(*AVX512, "avx512_bf16", "amx_tile", "amx_bf16")
    monkeypatch.setattr(instruction_sets, "_matrix_registers_granted", lambda: True)
    assert choose_isa(dtype=torch.float32) == "avx512_bf16"
    monkeypatch.setattr(instruction_sets, "_matrix_registers_granted", lambda: False)
    assert choose_isa() == "avx512_bf16"
    with pytest.raises(ConfigError, match="amx needs what this processor lacks: the system's leave to use AMX"):
        choose_isa("amx")


def test_an_instruction_set_that_the_processor_lacks_is_refused_by_name(has, monkeypatch):
    has("avx2", "fma")
    monkeypatch.setenv("ISOTHERM_ISA", "avx512")
    with pytest.raises(ConfigError, match="ISOTHERM_ISA: avx512 needs what this processor lacks: avx512bw"):
        choose_isa()


def test_an_unknown_instruction_set_is_refused():
    with pytest.raises(ConfigError, match="must be one of amx, avx512_bf16, avx512, avx2, plain, got 'sse9'"):
        choose_isa("sse9")


def test_the_environment_chooses_the_instruction_set(monkeypatch):
    monkeypatch.setenv("ISOTHERM_ISA", "plain")
    assert load_kernels("c", "float32").fingerprint()["isa"] == "plain"


@pytest.fixture
def no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)


def test_without_a_compiler_the_c_kernels_name_gcc(no_compiler):
    with pytest.raises(ConfigError, match="install gcc"):
        load_kernels("c")


def test_without_a_compiler_auto_is_torch_and_says_so(no_compiler, caplog):
    with caplog.at_level(logging.WARNING):
        assert isinstance(load_kernels("auto"), TorchKernels)
    assert "install gcc" in caplog.text


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_failing_compiler_is_quoted(monkeypatch, tmp_path):
    version = 'case "$*" in *--version*|*-dumpmachine*) echo broken 1.0; exit 0;; esac'
    monkeypatch.setenv("CC", script(tmp_path / "broken", f"{version}; echo 'no such flag' >&2; exit 1"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match="no such flag"):
        load_kernels("c")
    assert not list(tmp_path.rglob("*.so"))


def test_a_build_is_compiled_once(monkeypatch):
    built = building.build("plain", torch.float32)
    monkeypatch.setattr(building, "_compile", lambda *_: pytest.fail("compiled again"))
    assert building.build("plain", torch.float32) == built


def test_another_dtype_instruction_set_or_source_is_another_build(monkeypatch):
    one = building.build("plain", torch.float32)
    assert building.build("plain", torch.bfloat16).path != one.path
    monkeypatch.setattr(building, "_compile", lambda *_: None)
    monkeypatch.setattr(building, "source_hash", lambda: "another")
    assert building.build("plain", torch.float32).path != one.path


def test_two_processes_may_build_at_once(tmp_path):
    code = "from isotherm.kernels.load import load_kernels; print(load_kernels('c', 'float32', isa='plain').native.build.path)"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    processes = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    paths = [process.communicate()[0].strip() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert paths[0] == paths[1] != ""
    assert [path.name for path in Path(paths[0]).parent.iterdir()] == ["libisotherm.so"]


def test_the_fingerprint_names_what_fixes_the_bits(variant):
    kernels = variant.kernels()
    print_ = kernels.fingerprint()
    assert print_["kernels"] == variant.provider
    assert print_["dtype"] == variant.dtype
    assert print_["torch"] == torch.__version__
    assert {"sources", "compiler", "isa"} <= print_.keys()
    if isinstance(kernels, CKernels):
        assert print_["isa"] == variant.isa
        assert "-ffp-contract=off" in print_["flags"]
        assert "-ffast-math" not in print_["flags"]


def test_threads_are_one_a_core_unless_given():
    assert load_kernels("torch").threads == len(os.sched_getaffinity(0))
    assert load_kernels("torch", threads=3).threads == 3


def test_torch_keeps_its_own_number_of_threads_outside_a_call():
    kernels = load_kernels("torch")
    threads = torch.get_num_threads()
    kernels.silu_mul(torch.zeros(2, 8, dtype=kernels.dtype))
    assert torch.get_num_threads() == threads
