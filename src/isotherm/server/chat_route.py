"""POST /v1/chat/completions."""

import time

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from isotherm.server.body import read_body
from isotherm.server.call import make_call
from isotherm.server.chat_body import ChatBody
from isotherm.server.chat_chunks import ChatChunks
from isotherm.server.chat_prompt import chat_prompt
from isotherm.server.chat_shape import ChatShape
from isotherm.server.chat_whole import ChatWhole
from isotherm.server.openapi import body_schema
from isotherm.server.respond import respond_stream, respond_whole
from isotherm.server.service import Service
from isotherm.server.stream_options import check_response_format, check_salt, stream_options
from isotherm.server.tools import check_tools


def chat_routes(service: Service) -> APIRouter:
    """The endpoint over `service`."""
    router = APIRouter()

    @router.post("/v1/chat/completions", openapi_extra=body_schema(ChatBody))
    async def chat_completions(request: Request) -> Response:
        """Answer a chat."""
        data, arrived = await read_body(request), time.perf_counter()
        body = ChatBody.parse(data)
        model = service.model(body.model)
        options = stream_options(body)
        check_response_format(body)
        check_salt(body)
        called = check_tools(body, service.config)
        prompt = await service.text.run(len(data), lambda: chat_prompt(service, body))
        call = make_call("chatcmpl", arrived, model, body, (prompt,))
        shape = ChatShape(
            call=call,
            tokenizer=service.tokenizer,
            token_text=service.token_text,
            fingerprint=service.fingerprint,
            tools=body.tools if called else None,
            tool_format=service.config.tool_format if called else None,
            reasoning=service.config.reasoning_parser is not None,
            include_reasoning=body.include_reasoning is not False,
            token_ids=bool(body.return_token_ids),
            as_ids=bool(body.return_tokens_as_token_ids),
        )
        if body.stream:
            return await respond_stream(service, request, call, ChatChunks(shape), options)
        return await respond_whole(service, request, call, ChatWhole(shape))

    return router
