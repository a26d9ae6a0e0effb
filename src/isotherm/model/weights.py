"""How many bytes a checkpoint's weights take, from the headers of its files."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open

from isotherm.core.errors import CheckpointError
from isotherm.model.checkpoint import SKIPPED
from isotherm.model.quantization import SCALES
from isotherm.model.spec import ModelSpec

_TABLE = ".ngram_embedding."


@dataclass(frozen=True, slots=True)
class WeightBytes:
    """model: held in memory, but for padding; fp8: of these, in FP8, without scales. mapped: n-gram tables, read from disk.
    drafter, vision: of these parts."""

    model: int = 0
    mapped: int = 0
    drafter: int = 0
    vision: int = 0
    fp8: int = 0


def weight_bytes(folder: Path, spec: ModelSpec, dtype: torch.dtype) -> WeightBytes:
    """Matrices in `dtype`, or in FP8 where they are stored so, with scales of blocks in float32; vectors and convolutions in
    float32, as layers hold them; tables and vision as stored.

    Raises CheckpointError when a file cannot be read.
    """
    model = mapped = drafter = vision = fp8 = 0
    for name, shape, stored, _ in _headers(folder):
        count = math.prod(shape)
        held = count * _item(name, shape, stored // max(count, 1), dtype)
        if name.startswith(SKIPPED):
            if "mtp." in name:
                drafter += held
            else:
                vision += stored
        elif _TABLE in name:
            mapped += stored
        elif not (spec.tied_embeddings and name.endswith("lm_head.weight")):
            model += held
            fp8 += held if held == count else 0
    return WeightBytes(model, mapped, drafter, vision, fp8)


def stored_types(folder: Path) -> dict[str, int]:
    """Bytes of the checkpoint's float tensors by type, as its files call it (BF16, F8_E4M3)."""
    types: dict[str, int] = {}
    for _, _, stored, kind in _headers(folder):
        types[kind] = types.get(kind, 0) + stored
    return types


def _item(name: str, shape: list[int], stored: int, dtype: torch.dtype) -> int:
    """Bytes of an element in memory."""
    if len(shape) < 2 or "conv1d" in name or name.endswith(SCALES):
        return 4
    return 1 if stored == 1 else dtype.itemsize


def _headers(folder: Path) -> Iterator[tuple[str, list[int], int, str]]:
    """Name, shape, stored bytes and type of every float tensor."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise CheckpointError(f"{folder}: no *.safetensors file; other weight formats are not read")
    for path in files:
        try:
            with safe_open(path, framework="pt") as file:
                for name in file.keys():  # noqa: SIM118
                    header = file.get_slice(name)
                    if (kind := header.get_dtype()) in _BYTES:
                        yield name, header.get_shape(), math.prod(header.get_shape()) * _BYTES[kind], kind
        except Exception as error:
            raise CheckpointError(f"{path}: {error}") from error


_BYTES = {"F8_E4M3": 1, "BF16": 2, "F16": 2, "F32": 4, "F64": 8}
