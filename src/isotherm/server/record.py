"""What is measured and logged of one call."""

import logging
import time

from isotherm.core.request import Output
from isotherm.server.call import Call
from isotherm.server.metrics import Metrics
from isotherm.server.usage import Usage

log = logging.getLogger("isotherm.server")


class CallRecord:
    """Reads every output of a call, and writes one log line when it ends, however it ends."""

    def __init__(self, call: Call, metrics: Metrics):
        self.usage = Usage(call)
        self._id = call.id
        self._metrics = metrics
        self._started = call.arrived
        self._last: list[float | None] = [None] * len(call.requests)
        self._reasons: list[str] = ["abort"] * len(call.requests)
        self._first: float | None = None

    def read(self, index: int, output: Output) -> None:
        """An output of choice `index` has arrived."""
        self.usage.read(index, output)
        if output.tokens:
            self._time(index, len(output.tokens))
        if output.finish_reason is not None:
            self._reasons[index] = output.finish_reason

    def failed(self) -> None:
        """The call ended with an error: choices that had not ended did not end well."""
        self._reasons = ["error" if reason == "abort" else reason for reason in self._reasons]

    def close(self) -> None:
        """The call is over."""
        total = time.perf_counter() - self._started
        for reason in self._reasons:
            self._metrics.finished(reason)
        if "abort" not in self._reasons and "error" not in self._reasons:
            self._metrics.whole.observe(total)
        log.info(
            "request %s: %d prompt tokens, %d cached, %d generated, finish %s, first token %s, total %.1f ms",
            self._id,
            self.usage.prompt,
            self.usage.cached,
            self.usage.generated,
            ",".join(dict.fromkeys(self._reasons)),
            "none" if self._first is None else f"{self._first * 1e3:.1f} ms",
            total * 1e3,
        )

    def _time(self, index: int, tokens: int) -> None:
        now, before = time.perf_counter(), self._last[index]
        if self._first is None:
            self._first = now - self._started
            self._metrics.first_token.observe(self._first)
        if before is not None:
            for _ in range(tokens):
                self._metrics.between_tokens.observe((now - before) / tokens)
        self._last[index] = now
