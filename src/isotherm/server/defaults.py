"""What a request gets when it does not say: the checkpoint's generation_config.json, as vLLM reads it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from isotherm.core.errors import ConfigError
from isotherm.core.sampling import SamplingParams

_NAMES = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")


@dataclass(frozen=True, slots=True)
class SamplingDefaults:
    """max_tokens: None for whatever the context leaves (chat) or 16 (completions)."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    max_tokens: int | None = None

    @classmethod
    def from_generation_config(cls, config: Mapping[str, Any]) -> Self:
        """The sampling fields of a generation_config.json; the others, and absent or null ones, are left at neutral.

        Raises ConfigError for a value that is not a number, RequestError for one that is out of range.
        """
        values = {name: config[name] for name in _NAMES if config.get(name) is not None}
        if config.get("max_new_tokens") is not None:
            values["max_tokens"] = config["max_new_tokens"]
        for name, value in values.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ConfigError(f"generation_config.{name}", f"must be a number, got {value!r}")
        SamplingParams(**values)
        return cls(**values)
