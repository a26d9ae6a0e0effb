"""From a chat body to a prompt."""

from typing import Any

from isotherm.server.call import Prompt
from isotherm.server.chat_body import ChatBody
from isotherm.server.errors import bad_request
from isotherm.server.messages import known_messages
from isotherm.server.sampling import chat_budget, chat_logprobs, sampling_params
from isotherm.server.service import Service
from isotherm.text.chat import ChatPrompt

_REFUSED = frozenset({"chat_template", "tokenize"})
"""Template arguments that other servers act on and templates do not read; the text room refuses those it sets itself."""


def render(
    service: Service,
    messages: list[dict[str, Any]],
    tools: list[dict[str, Any]] | None,
    add_generation_prompt: bool | None,
    kwargs: dict[str, Any] | None,
) -> ChatPrompt:
    """The prompt of a chat. Raises ApiError or RequestError naming what is wrong."""
    for name in kwargs or ():
        if name in _REFUSED:
            path = f"chat_template_kwargs.{name}"
            raise bad_request(path, f"{path} is not supported", "unsupported_parameter")
    add = True if add_generation_prompt is None else add_generation_prompt
    return service.template.prompt(known_messages(messages), tools or None, add, kwargs or {})


def chat_prompt(service: Service, body: ChatBody) -> Prompt:
    """The body's prompt, tokenised, with the parameters it is continued with. Raises ApiError or RequestError."""
    rendered = render(service, body.messages, body.tools, body.add_generation_prompt, body.chat_template_kwargs)
    info, defaults = service.client.info, service.config.default_sampling
    max_tokens = chat_budget(body).resolve(len(rendered.tokens), info.max_model_len, defaults.max_tokens, "messages")
    sampling = sampling_params(body, defaults, info.vocab_size, max_tokens, chat_logprobs(body), body.prompt_logprobs)
    return Prompt(rendered.tokens, sampling, rendered.hint, rendered.text, rendered.in_reasoning)
