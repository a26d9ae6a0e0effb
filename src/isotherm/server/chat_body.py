"""The body of POST /v1/chat/completions."""

from typing import Any, Literal

from isotherm.server.body import GenerationBody


class ChatBody(GenerationBody):
    """add_special_tokens: a template writes its own."""

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
    add_special_tokens: Literal[False] | None = None
