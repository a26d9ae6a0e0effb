"""Which models are fuzzed: the one named, or every kind there is."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from isotherm.core.config import DType, Provider
from isotherm.core.errors import ConfigError
from isotherm.fuzz.run import LONGEST
from isotherm.fuzz.subject import Model, open_model
from isotherm.model.source import EMBEDDED, locate
from isotherm.model.tiny import Kind, write_tiny

EVERY_KIND = (*get_args(Kind), "embedded")


ON_GPU = ("qwen3_5", "qwen3_next", "qwen3_5_moe", "embedded")
"""Those that the GPU kernels compute."""


def kinds_named(text: str, kernels: Provider = "auto") -> tuple[str, ...]:
    """Kinds in a comma-separated list; for "" all that the kernels compute. Raises ConfigError."""
    every = ON_GPU if kernels == "triton" else EVERY_KIND
    named = tuple(name.strip() for name in text.split(",")) if text else every
    if unknown := [name for name in named if name not in EVERY_KIND]:
        raise ConfigError("kinds", f"must be among {', '.join(EVERY_KIND)}, got {', '.join(unknown)}")
    return named


def open_models(model: str, kernels: Provider, dtype: DType, kinds: Sequence[str] = EVERY_KIND) -> list[Model]:
    """`model`: a folder or hub id; "" for one model of each of `kinds`, random weights but for the embedded one."""
    if model:
        return [open_model(model, locate(model), LONGEST, kernels, dtype)]
    return [open_kind(kind, kernels, dtype) for kind in kinds]


def open_kind(kind: str, kernels: Provider, dtype: DType) -> Model:
    """A tiny random model of this kind, or the embedded one."""
    if kind == "embedded":
        return open_model(kind, EMBEDDED, LONGEST, kernels, dtype)
    with tempfile.TemporaryDirectory() as folder:
        shape: dict[str, Any] = {"linear_value_head_dim": 32} if kernels == "triton" else {}  # a power of two
        made = write_tiny(kind, Path(folder), drafter=True, **shape)
        return open_model(kind, made.folder, LONGEST, kernels, dtype)
