"""POST /v1/completions."""

import time

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from isotherm.server.body import read_body
from isotherm.server.call import make_call
from isotherm.server.completion_body import CompletionBody
from isotherm.server.completion_chunks import CompletionChunks
from isotherm.server.completion_prompt import completion_prompts
from isotherm.server.completion_shape import CompletionShape
from isotherm.server.completion_whole import CompletionWhole
from isotherm.server.openapi import body_schema
from isotherm.server.respond import respond_stream, respond_whole
from isotherm.server.service import Service
from isotherm.server.stream_options import check_response_format, check_salt, stream_options


def completion_routes(service: Service) -> APIRouter:
    """The endpoint over `service`."""
    router = APIRouter()

    @router.post("/v1/completions", openapi_extra=body_schema(CompletionBody))
    async def completions(request: Request) -> Response:
        """Continue a prompt."""
        data, arrived = await read_body(request), time.perf_counter()
        body = CompletionBody.parse(data)
        model = service.model(body.model)
        options = stream_options(body)
        check_response_format(body)
        check_salt(body)
        prompts = await service.text.run(len(data), lambda: completion_prompts(service, body))
        call = make_call("cmpl", arrived, model, body, prompts)
        shape = CompletionShape(
            call=call,
            tokenizer=service.tokenizer,
            token_text=service.token_text,
            fingerprint=service.fingerprint,
            echo=bool(body.echo),
            logprobs=body.logprobs is not None,
            prompt_logprobs=body.prompt_logprobs is not None,
            token_ids=bool(body.return_token_ids),
            as_ids=bool(body.return_tokens_as_token_ids),
        )
        if body.stream:
            return await respond_stream(service, request, call, CompletionChunks(shape), options)
        return await respond_whole(service, request, call, CompletionWhole(shape))

    return router
