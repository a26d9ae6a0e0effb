"""Every error that Isotherm raises on purpose.

IsothermError
├── ConfigError       a setting that cannot be honoured       (field, message)
├── CheckpointError   a model folder that cannot be loaded    (message names the tensor or field)
├── RequestError      a request that cannot be served: 400    (param, message)
├── QueueFullError    too many requests are waiting: 429
├── NumericsError     a request whose logits are not finite   (that request alone fails)
├── TraceError        a trace that cannot be read or compared
└── EngineDeadError   the engine's process is gone: 503
"""


class IsothermError(Exception):
    """Base of every deliberate error."""


class ConfigError(IsothermError):
    """A setting that cannot be honoured; `field` is its name as the user wrote it."""

    def __init__(self, field: str, message: str):
        super().__init__(field, message)
        self.field = field
        self.message = message

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class CheckpointError(IsothermError):
    """A model folder that cannot be loaded."""


class RequestError(IsothermError):
    """A request that cannot be served; `param` is the offending parameter's name."""

    def __init__(self, param: str, message: str):
        super().__init__(param, message)
        self.param = param
        self.message = message

    def __str__(self) -> str:
        return f"{self.param}: {self.message}"


class QueueFullError(IsothermError):
    """The waiting queue is at its bound."""


class NumericsError(IsothermError):
    """A request's logits were not finite."""


class TraceError(IsothermError):
    """A trace that cannot be read, or two that cannot be compared."""


class EngineDeadError(IsothermError):
    """The engine's process has ended."""
