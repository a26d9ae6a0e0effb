"""A command line's words as a run's configuration."""

import json
import shlex
from dataclasses import dataclass, field
from typing import Any

from isotherm.core.errors import ConfigError
from isotherm.gate.api import Api
from isotherm.gate.config import GateConfig
from isotherm.gate.plan import ArmOptions, plan

BATTERIES = {"published": "a,b,repro"}
"""What is sent when nothing was said, by the name given to --arms."""


@dataclass(frozen=True, slots=True)
class GateRequest:
    """What was typed. battery: comma-separated; "" for what suits the arms. extra_body: JSON. extra_headers: "name: value" each.

    serve_options, serve_args: for our own server, as words and as one text.
    """

    arms: ArmOptions = field(default_factory=ArmOptions)
    model: str = ""
    battery: str = ""
    serve_options: tuple[str, ...] = ()
    serve_args: str = ""
    tool_call_parser: str = "qwen3_coder"
    model_name: str = ""
    api_key: str = field(default="", repr=False)
    extra_body: str = ""
    extra_headers: tuple[str, ...] = ()
    start_timeout_s: float = 180.0
    request_timeout_s: float = 300.0

    def config(self) -> GateConfig:
        """The run's configuration. Raises ConfigError naming the option that cannot be honoured."""
        arms, battery = plan(self.arms), self.battery or BATTERIES.get(self.arms.arms, "a,b")
        if self.model and all(arm.target for arm in arms):
            raise ConfigError(
                "model", "it is a checkpoint for our own server; the name to ask another for is --model-name"
            )
        return GateConfig(
            model=self.model,
            batteries=tuple(name.strip() for name in battery.split(",") if name.strip()),
            arms=arms,
            serve_args=(*self.serve_options, *_words(self.serve_args)),
            tool_call_parser=self.tool_call_parser,
            api=Api(self.model_name, self.api_key, tuple(map(_header, self.extra_headers)), _fields(self.extra_body)),
            start_timeout_s=self.start_timeout_s,
            request_timeout_s=self.request_timeout_s,
        )


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise ConfigError("serve_args", f"cannot be split into words: {error}") from error


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise ConfigError("extra_header", f"expected NAME:VALUE, got {text!r}")
    return name.strip(), value.strip()


def _fields(text: str) -> tuple[tuple[str, Any], ...]:
    try:
        fields = json.loads(text) if text else {}
    except ValueError as error:
        raise ConfigError("extra_body", f"is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise ConfigError("extra_body", f"expected a JSON object, got {text!r}")
    return tuple(fields.items())
