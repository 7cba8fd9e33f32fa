"""Something that is made of every capture: beside a crawl while it adds to them, or afterwards."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import islice

from crawl4r.archive.captures import Captures
from crawl4r.model import Capture

_BATCH = 32


class CaptureFollower(ABC):
    """Works through the captures behind its cursor, a batch at a time."""

    pause = 0.5  # seconds between two looks for new captures

    def __init__(self, captures: Captures) -> None:
        self._captures = captures
        self._is_ending = asyncio.Event()
        self._is_stopped = False

    @property
    @abstractmethod
    def cursor(self) -> int:
        """The last capture that was taken care of."""

    @abstractmethod
    async def _process(self, batch: Sequence[Capture]) -> None:
        """Take care of the next captures, and move the cursor behind them."""

    async def finish(self) -> None:
        """What remains to be done once all captures were taken care of: mostly nothing."""
        return

    async def follow(self) -> None:
        """Keep up with a crawl until `end`, then finish what is left."""
        while True:
            is_last = self._is_ending.is_set()
            done = await self.catch_up()
            if is_last:
                return await self.finish()
            if not done:
                try:
                    async with asyncio.timeout(self.pause):
                        await self._is_ending.wait()
                except TimeoutError:
                    continue

    def end(self) -> None:
        """No more captures will come."""
        self._is_ending.set()

    def stop(self) -> None:
        """Leave what is left for the next run."""
        self._is_stopped = True

    async def catch_up(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Take care of everything behind the cursor; how many captures that were."""
        total = 0
        while batch := self._next_batch():
            await self._process(batch)
            total += len(batch)
            if on_progress:
                on_progress(len(batch))
        return total

    def _next_batch(self) -> list[Capture]:
        return [] if self._is_stopped else list(islice(self._captures.after(self.cursor), _BATCH))
