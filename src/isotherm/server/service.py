"""What every route needs, built once."""

import asyncio
import hashlib
import logging
import time
from dataclasses import dataclass, field

from isotherm.core.errors import EngineDeadError
from isotherm.core.stats import EngineStats
from isotherm.server.client import EngineClient
from isotherm.server.config import ServerConfig
from isotherm.server.errors import ApiError
from isotherm.server.metrics import Metrics
from isotherm.server.reuse_watch import ReuseWatch
from isotherm.server.text_thread import TextThread
from isotherm.server.token_text import TokenText
from isotherm.text.chat import ChatTemplate
from isotherm.text.tokenizer import Tokenizer

log = logging.getLogger("isotherm.server")

PATIENCE_S = 1.0
"""How long a health check or a scrape waits for the engine to finish its pass."""


@dataclass(frozen=True, slots=True)
class Service:
    """The engine, the text room, and what is measured. started: Unix seconds."""

    client: EngineClient
    tokenizer: Tokenizer
    template: ChatTemplate
    config: ServerConfig
    metrics: Metrics
    token_text: TokenText
    text: TextThread = field(default_factory=TextThread)
    reuse: ReuseWatch = field(default_factory=ReuseWatch)
    started: int = field(default_factory=lambda: int(time.time()))
    background: set[asyncio.Task[None]] = field(default_factory=set)

    def model(self, asked: str | None) -> str:
        """The name to answer under. Raises ApiError (404) for a model that is not served."""
        names = self.config.served_model_names
        if asked is None:
            return names[0]
        if asked not in names:
            raise ApiError(
                404, f"the model {asked!r} does not exist; served: {', '.join(names)}", "model", "model_not_found"
            )
        return asked

    @property
    def fingerprint(self) -> str:
        """A short name of the build: equal fingerprints give equal bits."""
        build = "\n".join(f"{name}={value}" for name, value in sorted(self.client.info.build.items()))
        return "fp_" + hashlib.sha256(build.encode()).hexdigest()[:12]

    async def stats(self) -> EngineStats | None:
        """The engine's numbers; None when it is busy with a long pass. Raises EngineDeadError."""
        try:
            return await asyncio.wait_for(self.client.stats(), PATIENCE_S)
        except TimeoutError:
            return None

    def watch_reuse(self) -> None:
        """Look at the cache's counters soon, without holding up the answer that has just ended."""
        task = asyncio.create_task(self._watch_reuse())
        self.background.add(task)
        task.add_done_callback(self.background.discard)

    async def _watch_reuse(self) -> None:
        try:
            stats = await self.stats()
        except EngineDeadError:
            return
        if stats is not None:
            self.reuse.read(stats)

    async def close(self) -> None:
        """End the engine and the text thread."""
        for task in tuple(self.background):
            task.cancel()
        self.text.close()
        await self.client.close()


def make_service(client: EngineClient, tokenizer: Tokenizer, template: ChatTemplate, config: ServerConfig) -> Service:
    """A service with fresh metrics."""
    metrics = Metrics(config.served_model_names[0], client.info)
    return Service(client, tokenizer, template, config, metrics, TokenText(tokenizer.vocabulary))
