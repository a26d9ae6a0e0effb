"""Which instruction set the C kernels are compiled for: read from the processor's own list, never measured."""

import ctypes
import os
import platform
import subprocess
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import torch

from isotherm.core.config import DType
from isotherm.core.errors import ConfigError

Isa = Literal["amx", "avx512_bf16", "avx512", "avx2", "plain"]

_AVX512 = ("-mavx2", "-mfma", "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl")

FLAGS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "avx2": ("-mavx2", "-mfma"),
    "avx512": _AVX512,
    "avx512_bf16": (*_AVX512, "-mavx512bf16"),
    "amx": (*_AVX512, "-mavx512bf16", "-mamx-tile", "-mamx-bf16"),
}
"""Compiler flags of each; named one by one, so that a cached build runs wherever the same choice is made."""

_NEEDS_AVX512 = {"avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl"}
_NEEDS = {
    "amx": _NEEDS_AVX512 | {"avx512_bf16", "amx_tile", "amx_bf16"},
    "avx512_bf16": _NEEDS_AVX512 | {"avx512_bf16"},
    "avx512": _NEEDS_AVX512,
    "avx2": {"avx2", "fma"},
    "plain": set[str](),
}


@cache
def capabilities() -> frozenset[str]:
    """The processor's features, by Linux's names; empty when neither the kernel nor a compiler can tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return _ask_compiler()
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return frozenset(value.split())
    return frozenset()


def _ask_compiler() -> frozenset[str]:
    command = [os.environ.get("CC", "cc"), "-march=native", "-dM", "-E", "-x", "c", os.devnull]
    try:
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return frozenset()
    macros = {line.split()[1].strip("_").lower() for line in text.splitlines() if line.startswith("#define __")}
    return frozenset("avx512_bf16" if name == "avx512bf16" else name for name in macros)


@cache
def _matrix_registers_granted() -> bool:
    """Whether Linux lets this process use AMX; asking is what grants it (arch_prctl(2), ARCH_REQ_XCOMP_PERM, tile data)."""
    return bool(ctypes.CDLL(None).syscall(158, 0x1023, 18) == 0)


def supported() -> tuple[Isa, ...]:
    """Instruction sets that this process can run here, best first."""
    able = tuple(isa for isa in get_args(Isa) if _NEEDS[isa] <= capabilities())
    return able if able[0] != "amx" or _matrix_registers_granted() else able[1:]


def choose_isa(asked: str | None = None, dtype: torch.dtype = torch.bfloat16) -> Isa:
    """The best instruction set for `dtype` (AMX has no float32), or the one asked for here or by ISOTHERM_ISA.

    Raises ConfigError when it does not exist or the processor lacks it.
    """
    name = asked or os.environ.get("ISOTHERM_ISA")
    able = supported()
    if not name:
        return able[1] if able[0] == "amx" and dtype == torch.float32 else able[0]
    if name not in get_args(Isa):
        raise ConfigError("ISOTHERM_ISA", f"must be one of {', '.join(get_args(Isa))}, got {name!r}")
    for isa in able:
        if isa == name:
            return isa
    missing = ", ".join(sorted(_NEEDS[name] - capabilities())) or "the system's leave to use AMX"
    raise ConfigError("ISOTHERM_ISA", f"{name} needs what this processor lacks: {missing}")


def choose_dtype(asked: DType) -> torch.dtype:
    """bfloat16 where the processor has bf16 arithmetic, else float32; or what was asked for, which works everywhere."""
    if asked == "auto":
        has_bf16 = bool({"avx512_bf16", "bf16"} & capabilities())
        asked = "bfloat16" if has_bf16 and platform.machine() in ("x86_64", "AMD64", "aarch64", "arm64") else "float32"
    return torch.bfloat16 if asked == "bfloat16" else torch.float32
