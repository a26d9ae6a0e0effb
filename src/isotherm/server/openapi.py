"""Bodies are read by hand, so that every error has OpenAI's shape; this describes them to /openapi.json."""

from typing import Any

from isotherm.server.body import Body


def body_schema(body: type[Body]) -> dict[str, Any]:
    """What a route passes as `openapi_extra`."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": body.model_json_schema()}}}}
