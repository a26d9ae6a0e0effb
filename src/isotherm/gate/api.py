"""How the servers of a run are spoken to: the same for every arm."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Api:
    """model: the name to ask for, "" for the only one that the server lists. headers, extra_body: sent with every request.

    The key is sent as a bearer token, and is in no report.
    """

    model: str = ""
    api_key: str = field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    extra_body: tuple[tuple[str, Any], ...] = ()

    @property
    def all_headers(self) -> dict[str, str]:
        """The headers of a request, the key's among them."""
        key = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        return key | dict(self.headers)


@dataclass(frozen=True, slots=True)
class Dialect:
    """Which optional fields of a chat request a server takes.

    token_ids: vLLM's return_token_ids. top_logprobs: how many, None for no log-probabilities at all. usage: stream_options.
    stream: false when a server gives more in whole responses; there is no time to first token then.
    """

    token_ids: bool = True
    top_logprobs: int | None = 20
    usage: bool = True
    tools: bool = True
    stream: bool = True

    def spoken(self, body: dict[str, Any]) -> dict[str, Any]:
        """`body` without what the server does not take."""
        body = dict(body) if self.stream else body | {"stream": False}
        if not self.token_ids:
            body.pop("return_token_ids", None)
        if self.top_logprobs is None:
            body.pop("logprobs", None)
        if not self.top_logprobs:
            body.pop("top_logprobs", None)
        elif "top_logprobs" in body:
            body["top_logprobs"] = min(body["top_logprobs"], self.top_logprobs)
        if not self.usage or not self.stream:
            body.pop("stream_options", None)
        if not self.tools:
            for name in ("tools", "tool_choice", "parallel_tool_calls"):
                body.pop(name, None)
        return body


FULL = Dialect()
PLAINEST = Dialect(token_ids=False, top_logprobs=None, usage=False, tools=False)
