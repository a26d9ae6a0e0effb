"""POST /tokenize and /detokenize, as in vLLM."""

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from isotherm.server.body import Body, read_body
from isotherm.server.chat_prompt import render
from isotherm.server.completion_prompt import tokenize_prompt
from isotherm.server.errors import bad_request
from isotherm.server.json_response import JsonResponse
from isotherm.server.openapi import body_schema
from isotherm.server.service import Service


class TokenizeBody(Body):
    """Either a prompt or messages."""

    model: str | None = None
    prompt: str | None = None
    messages: list[dict[str, Any]] | None = None
    tools: list[dict[str, Any]] | None = None
    add_generation_prompt: bool | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    return_token_strs: bool | None = None


class DetokenizeBody(Body):
    """Token ids."""

    model: str | None = None
    tokens: list[int]


def text_routes(service: Service) -> APIRouter:
    """Both endpoints over `service`."""
    router = APIRouter()

    @router.post("/tokenize", openapi_extra=body_schema(TokenizeBody))
    async def tokenize(request: Request) -> Response:
        """The tokens of a prompt or chat. hint: how many of them come before the first user message."""
        data = await read_body(request)
        body = TokenizeBody.parse(data)
        service.model(body.model)
        if (body.prompt is None) == (body.messages is None):
            raise bad_request("prompt", "either prompt or messages is needed, and not both")
        tokens, hint = await service.text.run(len(data), lambda: _tokens(service, body))
        answer = {
            "count": len(tokens),
            "max_model_len": service.client.info.max_model_len,
            "tokens": tokens,
            "hint": hint,
            "token_strs": [service.token_text.string(token) for token in tokens] if body.return_token_strs else None,
        }
        return JsonResponse(answer)

    @router.post("/detokenize", openapi_extra=body_schema(DetokenizeBody))
    async def detokenize(request: Request) -> Response:
        """The text of tokens, special tokens included."""
        data = await read_body(request)
        body = DetokenizeBody.parse(data)
        service.model(body.model)
        tokens = tokenize_prompt(service, body.tokens, "tokens") if body.tokens else ()
        return JsonResponse(
            {"prompt": await service.text.run(len(data), lambda: service.tokenizer.decode(tokens, False))}
        )

    return router


def _tokens(service: Service, body: TokenizeBody) -> tuple[tuple[int, ...], int]:
    if body.messages is None:
        return service.tokenizer.encode(body.prompt or ""), 0
    prompt = render(service, body.messages, body.tools, body.add_generation_prompt, body.chat_template_kwargs)
    return prompt.tokens, prompt.hint
