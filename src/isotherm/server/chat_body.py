"""The body of POST /v1/chat/completions."""

from typing import Any

from isotherm.server.body import GenerationBody


class ChatBody(GenerationBody):
    """Messages and tools are checked in `messages` and `tools`."""

    messages: list[dict[str, Any]]
    max_completion_tokens: int | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    add_generation_prompt: bool | None = None
    include_reasoning: bool | None = None
