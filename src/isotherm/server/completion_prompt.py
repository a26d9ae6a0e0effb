"""From a completion body to its prompts."""

from isotherm.server.call import Prompt
from isotherm.server.completion_body import CompletionBody
from isotherm.server.errors import bad_request
from isotherm.server.sampling import COMPLETION_TOKENS, Budget, sampling_params
from isotherm.server.service import Service

MAX_PROMPTS = 1024


def completion_prompts(service: Service, body: CompletionBody) -> tuple[Prompt, ...]:
    """Every prompt of the body, in order. Raises ApiError or RequestError."""
    prompts = _separate(body.prompt)
    if not 1 <= len(prompts) <= MAX_PROMPTS:
        raise bad_request("prompt", f"between 1 and {MAX_PROMPTS} prompts are needed, got {len(prompts)}")
    return tuple(_prompt(service, body, prompt) for prompt in prompts)


def _separate(prompt: str | list[int] | list[str] | list[list[int]]) -> list[str | list[int]]:
    if isinstance(prompt, str):
        return [prompt]
    texts = [item for item in prompt if not isinstance(item, int)]
    return list(texts) if len(texts) == len(prompt) else [[item for item in prompt if isinstance(item, int)]]


def _prompt(service: Service, body: CompletionBody, prompt: str | list[int]) -> Prompt:
    tokens = tokenize_prompt(service, prompt)
    info, defaults = service.client.info, service.config.default_sampling
    default = COMPLETION_TOKENS if defaults.max_tokens is None else defaults.max_tokens
    max_tokens = Budget(body.max_tokens).resolve(len(tokens), info.max_model_len, default, "prompt")
    scored = body.logprobs if body.echo and body.prompt_logprobs is None else body.prompt_logprobs
    sampling = sampling_params(body, defaults, info.vocab_size, max_tokens, body.logprobs, scored)
    return Prompt(tokens, sampling, text=_echoed(service, prompt, sampling.skip_special_tokens) if body.echo else "")


def _echoed(service: Service, prompt: str | list[int], skip_special: bool) -> str:
    return prompt if isinstance(prompt, str) else service.tokenizer.decode(prompt, skip_special)


def tokenize_prompt(service: Service, prompt: str | list[int], param: str = "prompt") -> tuple[int, ...]:
    """The ids of a prompt that may be text. Raises ApiError for ids outside the vocabulary and for no ids at all."""
    tokens = service.tokenizer.encode(prompt) if isinstance(prompt, str) else tuple(prompt)
    vocab_size = service.client.info.vocab_size
    for token in tokens:
        if not 0 <= token < vocab_size:
            raise bad_request(param, f"{token} is not a token id: the vocabulary has {vocab_size}")
    if not tokens:
        raise bad_request(param, "the prompt must have at least one token")
    return tokens
