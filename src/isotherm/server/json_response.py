"""JSON as it is sent: compact, UTF-8, and never NaN or Infinity."""

import json
from typing import Any

from starlette.responses import Response

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode(value: Any) -> bytes:
    """`value` as JSON. A float is written so that it reads back the same. Raises ValueError for NaN and infinities."""
    return _encoder.encode(value).encode("utf-8", "backslashreplace")


class JsonResponse(Response):
    """A response whose content is encoded here."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return encode(content)
