"""The keys of chat messages. What they hold is checked by the text room, which knows what templates read."""

from typing import Any

from isotherm.server.errors import bad_request

KNOWN = frozenset(
    {"role", "content", "name", "tool_calls", "tool_call_id", "reasoning", "reasoning_content", "thinking"}
)
EMPTY = frozenset({"refusal", "audio", "annotations", "function_call"})
"""What the openai client writes into an assistant message that is sent back; null, or an empty list, says nothing."""


def known_messages(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages without the keys that say nothing. Raises ApiError for a key that would be ignored."""
    return [_known(message, f"messages[{place}]") for place, message in enumerate(messages)]


def _known(message: dict[str, Any], path: str) -> dict[str, Any]:
    for key, value in message.items():
        if key not in KNOWN and not (key in EMPTY and not value):
            raise bad_request(f"{path}.{key}", f"{path}.{key} is not supported", "unknown_parameter")
    return {key: value for key, value in message.items() if key in KNOWN}
