"""The application: routes, errors and guards put together."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from isotherm.core.version import VERSION
from isotherm.server import errors
from isotherm.server.auth import KeyGuard, warn_if_exposed
from isotherm.server.chat_route import chat_routes
from isotherm.server.client import EngineClient
from isotherm.server.completion_route import completion_routes
from isotherm.server.config import ServerConfig
from isotherm.server.info_route import info_routes
from isotherm.server.limits import BodyLimit
from isotherm.server.service import make_service
from isotherm.server.text_route import text_routes
from isotherm.text.chat import ChatTemplate
from isotherm.text.tokenizer import Tokenizer

__all__ = ["create_app", "warn_if_exposed"]


def create_app(client: EngineClient, tokenizer: Tokenizer, template: ChatTemplate, config: ServerConfig) -> FastAPI:
    """The server over an engine that is ready. Its shutdown closes `client`."""
    service = make_service(client, tokenizer, template, config)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncGenerator[None, None]:
        yield
        await service.close()

    app = FastAPI(title="Isotherm", version=VERSION, lifespan=lifespan)
    errors.install(app)
    for routes in (chat_routes, completion_routes, info_routes, text_routes):
        app.include_router(routes(service))
    app.add_middleware(BodyLimit, limit=config.max_body_bytes)
    if config.api_key:
        app.add_middleware(KeyGuard, keys=config.api_key)
    return app
