"""Tools and tool_choice: what may be asked of this server. The form of a tool is checked by the text room."""

from typing import Any

from isotherm.server.chat_body import ChatBody
from isotherm.server.config import ServerConfig
from isotherm.server.errors import bad_request

_GRAMMARS = "needs constrained output, which comes with grammars"


def check_tools(body: ChatBody, config: ServerConfig) -> bool:
    """Whether tool calls are to be looked for in the answer. Raises ApiError for what cannot be honoured.

    With tool_choice "none" the tools stay in the prompt, as in vLLM, and the answer is text.
    """
    if body.parallel_tool_calls is False:
        message = f"limiting an answer to one call {_GRAMMARS}"
        raise bad_request("parallel_tool_calls", message, "unsupported_value")
    wanted = _wants_calls(body.tool_choice)
    if not body.tools:
        return False
    for place, tool in enumerate(body.tools):
        function = tool.get("function")
        if isinstance(function, dict) and function.get("strict"):
            path = f"tools[{place}].function.strict"
            raise bad_request(path, f"{path} {_GRAMMARS}", "unsupported_value")
    return wanted and _parser_enabled(config)


def _wants_calls(choice: str | dict[str, Any] | None) -> bool:
    if choice in (None, "auto", "none"):
        return choice != "none"
    if choice == "required" or isinstance(choice, dict):
        kind = '"required"' if choice == "required" else "naming a function"
        raise bad_request("tool_choice", f"tool_choice {kind} {_GRAMMARS}", "unsupported_value")
    raise bad_request("tool_choice", f'tool_choice must be "auto" or "none", got {choice!r}')


def _parser_enabled(config: ServerConfig) -> bool:
    if config.tool_format is None:
        raise bad_request(
            "tools",
            "tool calls are not enabled: start the server with --enable-auto-tool-choice and "
            '--tool-call-parser qwen3_coder or hermes, or send tool_choice "none"',
            "tools_not_enabled",
        )
    return True
