"""Chat messages and tools as a request gives them, checked and put in the form that templates read."""

from typing import Any

from isotherm.core.errors import RequestError
from isotherm.text.arguments import parse_arguments

ROLES = ("system", "developer", "user", "assistant", "tool")
REASONING_FIELDS = ("reasoning_content", "thinking", "reasoning")
"""Names under which an assistant's reasoning is passed; the first that is set counts."""

_UNSUPPORTED_PARTS = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "audio": "audio",
    "audio_url": "audio",
    "input_audio": "audio",
    "video": "video",
    "video_url": "video",
    "file": "file",
}


def read_messages(messages: object, joint: str) -> list[dict[str, Any]]:
    """Messages with content as one string, null fields left out, and tool arguments as objects.

    joint: what is put between the text parts of one content. Raises RequestError with the path of what is wrong.
    """
    if not isinstance(messages, list) or not messages:
        raise RequestError("messages", "must be a list of at least one message")
    return [_message(message, f"messages[{place}]", joint) for place, message in enumerate(messages)]


def read_tools(tools: object) -> list[dict[str, Any]] | None:
    """The tools, None when there are none. Raises RequestError with the path of what is wrong."""
    if tools is None or tools == []:
        return None
    if not isinstance(tools, list):
        raise RequestError("tools", "must be a list of tools")
    for place, tool in enumerate(tools):
        if not isinstance(tool, dict) or tool.get("type") != "function":
            raise RequestError(f"tools[{place}].type", "must be 'function'")
        function = tool.get("function")
        if not isinstance(function, dict) or not isinstance(function.get("name"), str) or not function["name"]:
            raise RequestError(f"tools[{place}].function.name", "must be a non-empty string")
        if not isinstance(function.get("parameters") or {}, dict):
            raise RequestError(f"tools[{place}].function.parameters", "must be a JSON schema object")
    return tools


def _message(message: object, path: str, joint: str) -> dict[str, Any]:
    if not isinstance(message, dict):
        raise RequestError(path, "must be an object")
    role = message.get("role")
    if role not in ROLES:
        raise RequestError(f"{path}.role", f"must be one of {', '.join(ROLES)}, got {role!r}")
    read = {key: value for key, value in message.items() if value is not None}
    for key in ("audio", "function_call"):
        if key in read:
            raise RequestError(f"{path}.{key}", "is not supported")
    if "content" in read:
        read["content"] = _content(read["content"], f"{path}.content", joint)
    elif role != "assistant":
        raise RequestError(f"{path}.content", "must be a string or a list of text parts")
    if role == "assistant":
        read |= _reasoning(read, path)
        read |= _tool_calls(read.pop("tool_calls", []), f"{path}.tool_calls")
    return read


def _content(content: object, path: str, joint: str) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise RequestError(path, "must be a string or a list of text parts")
    return joint.join(_part(part, f"{path}[{place}]") for place, part in enumerate(content))


def _part(part: object, path: str) -> str:
    if not isinstance(part, dict):
        raise RequestError(path, "must be an object")
    kind = part.get("type")
    if isinstance(kind, str) and kind in _UNSUPPORTED_PARTS:
        raise RequestError(path, f"{_UNSUPPORTED_PARTS[kind]} input is not supported yet")
    if kind != "text":
        raise RequestError(f"{path}.type", f"must be 'text', got {kind!r}")
    if not isinstance(part.get("text"), str):
        raise RequestError(f"{path}.text", "must be a string")
    text: str = part["text"]
    return text


def _reasoning(message: dict[str, Any], path: str) -> dict[str, Any]:
    """The reasoning under the names that templates read."""
    for name in REASONING_FIELDS:
        if name in message:
            if not isinstance(message[name], str):
                raise RequestError(f"{path}.{name}", "must be a string")
            return {"thinking": message.get("thinking", message[name]), "reasoning_content": message[name]}
    return {}


def _tool_calls(calls: object, path: str) -> dict[str, Any]:
    """The calls, or nothing when there are none: templates ask whether the field is there."""
    if not isinstance(calls, list):
        raise RequestError(path, "must be a list of tool calls")
    read = [_tool_call(call, f"{path}[{place}]") for place, call in enumerate(calls)]
    return {"tool_calls": read} if read else {}


def _tool_call(call: object, path: str) -> dict[str, Any]:
    if not isinstance(call, dict) or call.get("type", "function") != "function":
        raise RequestError(f"{path}.type", "must be 'function'")
    function = call.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise RequestError(f"{path}.function.name", "must be a string")
    arguments = function.get("arguments")
    if not isinstance(arguments, dict):
        arguments = _arguments(arguments, f"{path}.function.arguments")
    return call | {"function": function | {"arguments": arguments}}


def _arguments(text: object, path: str) -> dict[str, Any]:
    if text is None or text == "":
        return {}
    if not isinstance(text, str):
        raise RequestError(path, "must be a JSON object, as text")
    try:
        return parse_arguments(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(path, f"must be a JSON object, as text: {error}") from error
