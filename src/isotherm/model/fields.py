"""A JSON object read field by field, each checked and named when it is wrong."""

import json
from pathlib import Path
from typing import Any

from isotherm.core.errors import CheckpointError


class Fields:
    """Reads typed fields of a JSON object and names the one that is missing or wrong."""

    def __init__(self, raw: dict[str, Any], where: str):
        self.raw = raw
        self.where = where

    def integer(self, name: str, default: int | None = None, least: int = 1) -> int:
        """A whole number of at least `least`."""
        value = self.raw.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise CheckpointError(f"{self.where}: {name} must be a whole number of at least {least}, got {value!r}")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """A positive number."""
        value = self.raw.get(name, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
            raise CheckpointError(f"{self.where}: {name} must be a positive number, got {value!r}")
        return float(value)

    def flag(self, name: str, default: bool) -> bool:
        """True or false; null means the default."""
        value = self.raw.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise CheckpointError(f"{self.where}: {name} must be true or false, got {value!r}")
        return value

    def expect(self, name: str, *allowed: object) -> None:
        """Reject a field whose value would change the arithmetic in a way that we do not implement."""
        value = self.raw.get(name, allowed[0])
        if value not in allowed:
            listed = " or ".join(repr(item) for item in allowed)
            raise CheckpointError(f"{self.where}: {name}={value!r} is not supported, expected {listed}")


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in `path`; CheckpointError when it is absent or not one."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file; a model is a Hugging Face folder") from None
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: {error}") from error
    if not isinstance(raw, dict):
        raise CheckpointError(f"{path}: expected a JSON object")
    return raw
