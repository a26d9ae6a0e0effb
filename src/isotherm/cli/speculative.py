"""`--speculative-config`, vLLM's JSON."""

import json
from typing import Annotated

import typer

from isotherm.core.config import SpeculativeConfig
from isotherm.core.errors import ConfigError

Speculative = Annotated[
    str,
    typer.Option(
        metavar="JSON",
        help='Guess tokens ahead: {"method": "mtp", "num_speculative_tokens": 3}; method mtp or ngram; "adaptive": true for '
        "fewer where they are wrong. Answers stay the same.",
    ),
]

KEYS = ("method", "num_speculative_tokens", "adaptive")
OLDER_NAMES = {"qwen3_next_mtp": "mtp", "qwen3_5_mtp": "mtp", "deepseek_mtp": "mtp"}


def speculative_of(text: str) -> SpeculativeConfig | None:
    """The configuration that `text` holds, None for "". Raises ConfigError naming the field at fault."""
    if not text:
        return None
    try:
        record = json.loads(text)
    except ValueError as error:
        raise ConfigError("speculative_config", f"must be JSON: {error}") from None
    if not isinstance(record, dict):
        raise ConfigError("speculative_config", f"must be an object, got {record!r}")
    unknown = sorted(set(record) - set(KEYS))
    if unknown:
        raise ConfigError(f"speculative_config.{unknown[0]}", f"is not known; there are {', '.join(KEYS)}")
    if "method" not in record:
        raise ConfigError("speculative_config.method", "must be given: mtp or ngram")
    method = str(record["method"])
    count, adaptive = record.get("num_speculative_tokens", 1), record.get("adaptive", False)
    return SpeculativeConfig(OLDER_NAMES.get(method, method), count, adaptive)
