"""Body fields that this server knows and does not act on. Nothing is silently ignored: these tables are the whole truth.

INERT fields are accepted without effect, so that common clients work. UNSUPPORTED fields are a 400 that says why, unless
they hold the neutral value that asks for nothing. Any other field that a body does not declare is a 400 too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from isotherm.server.errors import bad_request


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Why a field is refused, and the values that ask for nothing. null always asks for nothing."""

    reason: str
    neutral: tuple[Any, ...] = ()


INERT = frozenset({"user", "metadata", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"})
"""Labels and hints: they never change what is generated here."""

_GRAMMAR = "constrained output comes with grammars, which do not exist yet"
_BEAM = "beam search is not implemented"

UNSUPPORTED: Mapping[str, Unsupported] = {
    "allowed_token_ids": Unsupported(_GRAMMAR),
    "audio": Unsupported("audio is not supported"),
    "bad_words": Unsupported("use logit_bias", ([],)),
    "best_of": Unsupported("choices are not ranked; use n"),
    "chat_template": Unsupported("the template is set at start with --chat-template"),
    "continue_final_message": Unsupported("continuing an assistant message is not implemented", (False,)),
    "documents": Unsupported("put documents into messages", ([],)),
    "function_call": Unsupported("use tool_choice"),
    "functions": Unsupported("use tools"),
    "guided_choice": Unsupported(_GRAMMAR),
    "guided_decoding_backend": Unsupported(_GRAMMAR),
    "guided_grammar": Unsupported(_GRAMMAR),
    "guided_json": Unsupported(_GRAMMAR),
    "guided_regex": Unsupported(_GRAMMAR),
    "kv_transfer_params": Unsupported("KV transfer is not implemented"),
    "length_penalty": Unsupported(_BEAM, (1, 1.0)),
    "logits_processors": Unsupported("logits processors are not implemented"),
    "lora": Unsupported("adapters are not implemented"),
    "mm_processor_kwargs": Unsupported("this server takes text only"),
    "modalities": Unsupported("this server writes text only", (["text"],)),
    "prediction": Unsupported("predicted outputs are not implemented"),
    "priority": Unsupported("requests are served in order of arrival", (0,)),
    "prompt_embeds": Unsupported("prompts are text or token ids"),
    "reasoning_effort": Unsupported('use chat_template_kwargs, for example {"enable_thinking": false}'),
    "service_tier": Unsupported("there is one tier", ("auto", "default")),
    "spaces_between_special_tokens": Unsupported("text is what the tokens' bytes say", (True,)),
    "store": Unsupported("nothing is stored", (False,)),
    "structured_outputs": Unsupported(_GRAMMAR),
    "suffix": Unsupported("filling in the middle is not implemented"),
    "thinking_token_budget": Unsupported("a budget for reasoning is not implemented"),
    "truncate_prompt_tokens": Unsupported("a prompt that is too long is an error, not cut"),
    "use_beam_search": Unsupported(_BEAM, (False,)),
    "verbosity": Unsupported("ask for it in the prompt"),
    "web_search_options": Unsupported("there is no web search"),
}


def check_undeclared(extra: Mapping[str, Any]) -> None:
    """Raise ApiError for the first field of `extra` that cannot be accepted without effect."""
    for name, value in extra.items():
        if name in INERT:
            continue
        known = UNSUPPORTED.get(name)
        if known is None:
            raise bad_request(name, f"unknown parameter: {name}", "unknown_parameter")
        if value is not None and value not in known.neutral:
            raise bad_request(name, f"{name} is not supported: {known.reason}", "unsupported_parameter")
