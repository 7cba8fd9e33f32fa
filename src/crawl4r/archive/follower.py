"""A task that processes every capture, beside a crawl or after it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import islice

from crawl4r.archive.captures import Captures
from crawl4r.model import Capture

_BATCH = 32


class CaptureFollower(ABC):
    """Processes the captures after its cursor in batches."""

    pause = 0.5  # seconds between two looks for new captures

    def __init__(self, captures: Captures) -> None:
        self._captures = captures
        self._is_ending = asyncio.Event()
        self._is_stopped = False

    @property
    @abstractmethod
    def cursor(self) -> int:
        """The id of the last processed capture."""

    @abstractmethod
    async def _process(self, batch: Sequence[Capture]) -> None:
        """Process the next captures, and move the cursor past them."""

    async def finish(self) -> None:
        """Do the final work after all captures. Does nothing by default."""
        return

    async def follow(self) -> None:
        """Follow a crawl until `end`, then process the rest."""
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
        """Call when no more captures will come."""
        self._is_ending.set()

    def stop(self) -> None:
        """Stop now. The next run processes the rest."""
        self._is_stopped = True

    async def catch_up(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Process all captures after the cursor; returns their number."""
        total = 0
        while batch := self._next_batch():
            await self._process(batch)
            total += len(batch)
            if on_progress:
                on_progress(len(batch))
        return total

    def _next_batch(self) -> list[Capture]:
        return [] if self._is_stopped else list(islice(self._captures.after(self.cursor), _BATCH))
