"""What one run of the gate is asked to do."""

import sys
from dataclasses import dataclass, field

from isotherm.gate.api import Api
from isotherm.gate.arms import FIRST_FORM, Arm


@dataclass(frozen=True, slots=True)
class GateConfig:
    """model: a checkpoint folder, "" for the embedded model. batteries: names of files in gate/cases, or paths of JSONL files.

    arms: in running order, the reference first and its control second.
    serve_command, serve_args: how a server of ours is launched; a port and each arm's flags are added. tool_call_parser: its
    parser. api: how any server is spoken to.
    start_timeout_s: for a server to become healthy. request_timeout_s: for one response.
    """

    model: str = ""
    batteries: tuple[str, ...] = ("a", "b")
    arms: tuple[Arm, ...] = FIRST_FORM
    serve_command: tuple[str, ...] = (sys.executable, "-m", "isotherm", "serve")
    serve_args: tuple[str, ...] = ()
    tool_call_parser: str = "qwen3_coder"
    api: Api = field(default_factory=Api)
    start_timeout_s: float = 180.0
    request_timeout_s: float = 300.0

    def command(self, arm: Arm, port: int) -> list[str]:
        """The command line of an arm's server."""
        model = (self.model,) if self.model else ()
        tools = ("--enable-auto-tool-choice", "--tool-call-parser", self.tool_call_parser)
        return [*self.serve_command, *model, "--port", str(port), *tools, *self.serve_args, *arm.flags]
