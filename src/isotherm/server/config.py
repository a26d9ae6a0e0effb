"""What the server is told at start."""

from dataclasses import dataclass, field

from isotherm.core.errors import ConfigError
from isotherm.server.defaults import SamplingDefaults
from isotherm.text.output import REASONING_FORMATS, TOOL_FORMATS, ToolFormatName


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Settings of the HTTP side; the flags of `isotherm serve` have the same names.

    served_model_names: what `model` may be; the first is used in responses. api_key: any of them is accepted; empty for none.
    tool_call_parser: the format in which the model writes tool calls. reasoning_parser: not None when the model writes its
    reasoning between think tags. max_body_bytes: a larger request body is a 413. default_sampling: the checkpoint's own.
    drain_s: seconds that running answers are given after SIGTERM.
    """

    served_model_names: tuple[str, ...]
    host: str = "127.0.0.1"
    port: int = 8000
    api_key: tuple[str, ...] = field(default=(), repr=False)
    enable_auto_tool_choice: bool = False
    tool_call_parser: ToolFormatName | None = None
    reasoning_parser: str | None = None
    max_body_bytes: int = 16 * 1024 * 1024
    default_sampling: SamplingDefaults = field(default_factory=SamplingDefaults)
    drain_s: float = 30.0

    def __post_init__(self) -> None:
        if not self.served_model_names:
            raise ConfigError("served_model_name", "at least one name is needed")
        if any(not key for key in self.api_key):
            raise ConfigError("api_key", "a key must not be empty")
        if self.max_body_bytes < 1:
            raise ConfigError("max_body_bytes", f"must be at least 1, got {self.max_body_bytes}")
        if self.drain_s < 0:
            raise ConfigError("drain_timeout", f"must not be negative, got {self.drain_s:g}")
        if self.tool_call_parser not in (None, *TOOL_FORMATS):
            raise ConfigError(
                "tool_call_parser", f"must be one of {', '.join(TOOL_FORMATS)}, got {self.tool_call_parser}"
            )
        if self.reasoning_parser not in (None, *REASONING_FORMATS):
            allowed = ", ".join(REASONING_FORMATS)
            raise ConfigError("reasoning_parser", f"must be one of {allowed}, got {self.reasoning_parser}")
        if self.enable_auto_tool_choice and self.tool_call_parser is None:
            raise ConfigError("enable_auto_tool_choice", "needs --tool-call-parser")

    @property
    def tool_format(self) -> ToolFormatName | None:
        """The format in which tool calls are looked for, when a request may have tools at all."""
        return self.tool_call_parser if self.enable_auto_tool_choice else None
