"""Pages on their way from a crawl to the code that iterates over it: each once, and not too many."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawl4r.workspace.page import Page

_AHEAD = 64  # captures that a crawl may be in front of its consumer


class PageFeed:
    """Captures are numbered in the order of their commits; each is handed over once."""

    def __init__(self, up_to: int) -> None:
        """Captures up to this one belong to earlier runs."""
        self.up_to = up_to  # all captures up to this one were handed over
        self._beyond: set[int] = set()  # handed over before one that is older
        self._queue: asyncio.Queue[Page | None] = asyncio.Queue(_AHEAD)
        self._taken = up_to  # by the consumer
        self._was_taken = asyncio.Event()
        self._kept = up_to
        self._is_closed = False

    async def pages(self) -> AsyncIterator[Page]:
        """Until `end` is called."""
        while (page := await self._queue.get()) is not None:
            self._taken = max(self._taken, page.capture.id)
            self._was_taken.set()
            yield page

    async def wait_for_room(self, number: int) -> None:
        """Wait, after a capture was kept, as long as the consumer is too far behind it."""
        self._kept = max(self._kept, number)
        while self.is_full():
            self._was_taken.clear()
            await self._was_taken.wait()

    def is_full(self) -> bool:
        """Whether the crawl waits for its consumer."""
        return not self._is_closed and self._kept - self._taken >= _AHEAD

    def has_shown(self, number: int) -> bool:
        """Whether this capture was handed over."""
        return number <= self.up_to or number in self._beyond

    async def show(self, page: Page) -> None:
        """Hand over a page, unless it was before; waits while the consumer is too far behind."""
        number = page.capture.id
        if self.has_shown(number):
            return
        if not self._is_closed:
            await self._queue.put(page)
        self._beyond.add(number)
        while self.up_to + 1 in self._beyond:
            self.up_to += 1
            self._beyond.remove(self.up_to)

    async def end(self) -> None:
        """Nothing more comes."""
        if not self._is_closed:
            await self._queue.put(None)

    def close(self) -> None:
        """The consumer has gone: a crawl that waits for it goes on."""
        self._is_closed = True
        self._was_taken.set()
        while not self._queue.empty():
            self._queue.get_nowait()
