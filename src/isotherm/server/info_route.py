"""GET /v1/models, /health, /metrics and /version."""

from typing import Any

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from isotherm.core.constants import BLOCK
from isotherm.core.errors import EngineDeadError
from isotherm.core.version import VERSION
from isotherm.server.json_response import JsonResponse
from isotherm.server.service import Service


def info_routes(service: Service) -> APIRouter:
    """The endpoints over `service`."""
    router = APIRouter()

    @router.get("/v1/models")
    async def models() -> Response:
        """The names under which the model answers."""
        return JsonResponse(
            {"object": "list", "data": [_model(service, name) for name in service.config.served_model_names]}
        )

    @router.get("/v1/models/{name:path}")
    async def model(name: str) -> Response:
        """One of them."""
        return JsonResponse(_model(service, service.model(name)))

    @router.get("/health")
    async def health() -> Response:
        """200 while the engine lives, also when it is busy; else 503."""
        await service.stats()
        return JsonResponse({"status": "ok"})

    @router.get("/metrics")
    async def metrics() -> Response:
        """Prometheus text. Without an engine, its last known numbers."""
        try:
            stats = await service.stats()
        except EngineDeadError:
            stats = None
        return Response(service.metrics.render(stats), media_type=CONTENT_TYPE_LATEST)

    @router.get("/version")
    async def version() -> Response:
        """The code's version, the build, and the numbers that decide which hits to expect."""
        info = service.client.info
        return JsonResponse(
            {
                "version": VERSION,
                "build": info.build,
                "numerics": info.numerics,
                "fingerprint": service.fingerprint,
                "block_size": BLOCK,
                "snapshot_interval": info.snapshot_interval,
                "prefix_caching": info.prefix_caching,
                "max_model_len": info.max_model_len,
                "vocab_size": info.vocab_size,
            }
        )

    return router


def _model(service: Service, name: str) -> dict[str, Any]:
    return {
        "id": name,
        "object": "model",
        "created": service.started,
        "owned_by": "isotherm",
        "root": service.config.served_model_names[0],
        "parent": None,
        "max_model_len": service.client.info.max_model_len,
    }
