"""Which instruction set the C kernels are compiled for: read from the processor's own list, never measured."""

import os
import platform
import subprocess
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import torch

from isotherm.core.config import DType
from isotherm.core.errors import ConfigError

Isa = Literal["avx512_bf16", "avx512", "avx2", "plain"]

FLAGS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "avx2": ("-mavx2", "-mfma"),
    "avx512": ("-mavx2", "-mfma", "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"),
    "avx512_bf16": ("-mavx2", "-mfma", "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx512bf16"),
}
"""Compiler flags of each; named one by one, so that a cached build runs wherever the same choice is made."""

_NEEDS = {
    "avx512_bf16": {"avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16"},
    "avx512": {"avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl"},
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


def supported() -> tuple[Isa, ...]:
    """Instruction sets that this processor can run, best first."""
    return tuple(isa for isa in get_args(Isa) if _NEEDS[isa] <= capabilities())


def choose_isa(asked: str | None = None) -> Isa:
    """The best instruction set, or the one asked for here or by ISOTHERM_ISA.

    Raises ConfigError when it does not exist or the processor lacks it.
    """
    name = asked or os.environ.get("ISOTHERM_ISA")
    able = supported()
    if not name:
        return able[0]
    if name not in get_args(Isa):
        raise ConfigError("ISOTHERM_ISA", f"must be one of {', '.join(get_args(Isa))}, got {name!r}")
    for isa in able:
        if isa == name:
            return isa
    missing = ", ".join(sorted(_NEEDS[name] - capabilities()))
    raise ConfigError("ISOTHERM_ISA", f"{name} needs what this processor lacks: {missing}")


def choose_dtype(asked: DType) -> torch.dtype:
    """bfloat16 where the processor has bf16 arithmetic, else float32; or what was asked for, which works everywhere."""
    if asked == "auto":
        has_bf16 = bool({"avx512_bf16", "bf16"} & capabilities())
        asked = "bfloat16" if has_bf16 and platform.machine() in ("x86_64", "AMD64", "aarch64", "arm64") else "float32"
    return torch.bfloat16 if asked == "bfloat16" else torch.float32
