"""One request's outputs on their way to whoever asked; they go on where they were when the engine is started again."""

import asyncio
from dataclasses import replace

from isotherm.core.errors import EngineDeadError, IsothermError
from isotherm.core.request import Output, Request


class Stream:
    """Outputs of one request, in order.

    When the engine's process has died, the request is asked again from its beginning, and by the contract gets the same
    tokens: those that were delivered are compared and dropped, and the stream goes on.
    deaths: how often the engine died while it had this request. ended: it has failed, and takes nothing more.
    """

    def __init__(self, request: Request):
        self.request = request
        self.deaths = 0
        self.ended = False
        self._items: asyncio.Queue[Output | IsothermError] = asyncio.Queue()
        self._delivered: list[int] = []
        self._began = False
        self._repeated = 0

    def push(self, output: Output) -> None:
        """What the engine said; of what was delivered before, nothing is passed on twice."""
        if self.ended:
            return
        known = self._delivered[self._repeated :][: len(output.tokens)]
        if known and tuple(known) != output.tokens[: len(known)]:
            self.fail(EngineDeadError("the engine was started again and answered otherwise"))
            return
        self._repeated += len(known)
        fresh = _after(output, len(known)) if known or self._began else output
        if known and not fresh.tokens and fresh.finish_reason is None:
            return
        self._began = True
        self._delivered += fresh.tokens
        self._repeated = len(self._delivered)
        self._items.put_nowait(fresh)

    def fail(self, error: IsothermError) -> None:
        """The last thing that the reader gets."""
        self.ended = True
        self._items.put_nowait(error)

    def again(self) -> Request:
        """The engine has died: the request, to be asked of the next one."""
        self.deaths += 1
        self._repeated = 0
        return self.request

    @property
    def started(self) -> bool:
        """Whether something was delivered."""
        return self._began

    async def get(self) -> Output:
        """The next output. Raises the error that ended the stream."""
        item = await self._items.get()
        if isinstance(item, IsothermError):
            raise item
        return item


def _after(output: Output, known: int) -> Output:
    """The output without its first `known` tokens and without what only a first output says."""
    return replace(
        output,
        tokens=output.tokens[known:],
        logprobs=output.logprobs[known:],
        cached_tokens=None,
        matched_tokens=None,
        prompt_logprobs=None,
    )
