"""One thread for text work that would hold up other streams."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

LARGE = 16 * 1024
"""Bytes of input from which rendering and tokenising take long enough (milliseconds) to leave the event loop."""


class TextThread:
    """Small work runs at once; large work waits its turn in the thread."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="text")

    async def run(self, size: int, work: Callable[[], T]) -> T:
        """The result of `work`, whose input has `size` bytes."""
        if size < LARGE:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Finish what runs, drop what waits."""
        self._pool.shutdown(wait=False, cancel_futures=True)
