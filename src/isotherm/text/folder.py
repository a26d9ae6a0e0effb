"""Reading the JSON files of a model folder."""

import json
from pathlib import Path
from typing import Any

from isotherm.core.errors import CheckpointError


def read_text(path: Path) -> str | None:
    """The file's text, None when there is no such file. Raises CheckpointError when it is not UTF-8."""
    if not path.is_file():
        return None
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CheckpointError(f"{path}: not UTF-8 text: {error}") from error


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in the file, empty when there is no such file. Raises CheckpointError when it is anything else."""
    text = read_text(path)
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except ValueError as error:
        raise CheckpointError(f"{path}: not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise CheckpointError(f"{path}: must hold a JSON object")
    return value
