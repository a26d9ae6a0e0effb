"""config.json's quantization_config: block FP8 as released checkpoints have it, and nothing else."""

import re
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from isotherm.core.errors import CheckpointError
from isotherm.kernels.weight import BLOCK
from isotherm.model.fields import Fields, read_json

SCALES = "_scale_inv"
"""What the scales of a tensor are called, after its own name."""

_END = r"(?:$|(?=\.)|(?<=\.))"  # of a part of a module's name


@dataclass(frozen=True, slots=True)
class Quantization:
    """Weights are FP8 with a scale a block. kept: names and patterns of modules that are stored as they were."""

    kept: tuple[str, ...]

    def keeps(self, module: str) -> bool:
        """Whether a name or regular expression in `kept` means the module, one of those around it, or its name's end."""
        plain, pattern = _sorted_out(self.kept)
        around = accumulate(module.split("."), lambda at, part: f"{at}.{part}")
        return module.endswith(self.kept) or any(name in plain for name in around) or pattern.match(module) is not None


@cache
def _sorted_out(names: tuple[str, ...]) -> tuple[frozenset[str], re.Pattern[str]]:
    """Names, and one pattern for the rest: a checkpoint has hundreds of them, and as many tensors as it has experts."""
    plain = frozenset(name.rstrip(".") for name in names if re.fullmatch(r"[\w.-]+", name))
    rest = "|".join(f"(?:{name})" for name in names if name.rstrip(".") not in plain)
    return plain, re.compile(f"(?:{rest}){_END}" if rest else "(?!)")


def read_quantization(folder: Path) -> Quantization | None:
    """Of the checkpoint in `folder`, None where its weights are not quantised. CheckpointError names what is not supported."""
    path = folder / "config.json"
    raw = read_json(path)
    parts = {str(path): raw, f"{path}: text_config": raw.get("text_config") or {}}
    return next((found for where, part in parts.items() if (found := quantization_of(part, where)) is not None), None)


def quantization_of(raw: dict[str, Any], where: str) -> Quantization | None:
    """Of the config `raw`."""
    given = raw.get("quantization_config")
    if not given:
        return None
    if not isinstance(given, dict):
        raise CheckpointError(f"{where}: quantization_config must be an object, got {given!r}")
    fields = Fields(given | {"quant_method": given.get("quant_method")}, f"{where}: quantization_config")
    fields.expect("quant_method", "fp8")
    fields.expect("weight_block_size", [BLOCK, BLOCK])
    fields.expect("activation_scheme", "dynamic", None)
    fields.expect("fmt", "e4m3", None)
    fields.expect("expert_dtype", "fp8", None)
    kept = given.get("modules_to_not_convert") or given.get("ignored_layers") or []
    if not isinstance(kept, list) or not all(isinstance(name, str) for name in kept):
        raise CheckpointError(f"{fields.where}: modules_to_not_convert must be a list of names, got {kept!r}")
    for name in kept:
        _check_pattern(name, fields.where)
    return Quantization(tuple(kept))


def _check_pattern(name: str, where: str) -> None:
    try:
        re.compile(name)
    except re.error as error:
        raise CheckpointError(f"{where}: modules_to_not_convert: {name!r} is not a pattern: {error}") from error
