"""Pages on their way from a crawl to the code that iterates over it: each once, and not too many."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from crawl4r.archive.documents import Documents
from crawl4r.model import Capture, Extraction, Visit
from crawl4r.wiring.parts import Parts

if TYPE_CHECKING:
    from crawl4r.workspace.page import Page
    from crawl4r.workspace.page_reader import PageReader

_AHEAD = 64  # captures that a crawl may be in front of its consumer


class PageFeed:
    """Captures are numbered in the order of their commits; each is handed over once."""

    def __init__(
        self,
        parts: Callable[[], Parts],
        crawl: int,
        page_reader: PageReader | None,
        *,
        reads: bool,
    ) -> None:
        """Only pages of `crawl` are handed over.

        `parts` are those of the store as it is open now; all captures that it holds by now belong to
        earlier runs. `reads` says whether each page is read before it is handed over; `page_reader`
        reads what is asked of it later.
        """
        self._parts = parts
        self._crawl = crawl
        self._page_reader = page_reader
        self._reads = reads
        self._up_to = parts().captures.last_id()  # all captures up to this one were handed over
        self._beyond: set[int] = set()  # handed over before one that is older
        self._queue: asyncio.Queue[Page | None] = asyncio.Queue(_AHEAD)
        self._kept = self._taken = self._up_to
        self._was_taken = asyncio.Event()
        self._is_closed = False

    async def pages(self) -> AsyncIterator[Page]:
        """Until `end` is called."""
        while (page := await self._queue.get()) is not None:
            self._taken = max(self._taken, page.capture.id)
            self._was_taken.set()
            yield page

    def is_full(self) -> bool:
        """Whether the crawl waits for its consumer."""
        return not self._is_closed and self._kept - self._taken >= _AHEAD

    async def add_kept(self, visit: Visit) -> None:
        """A visit is durable; waits as long as the consumer is too far behind it."""
        if visit.capture is None:
            await self._add_shared(visit.ending.capture)
            return
        capture = self._parts().captures.newest(visit.lease.url)
        if not self._reads:
            await self._show(capture)
        self._kept = max(self._kept, capture.id)
        while self.is_full():
            self._was_taken.clear()
            await self._was_taken.wait()

    async def _add_shared(self, number: int | None) -> None:
        """A page that another crawl of the store had asked for."""
        capture = self._parts().captures.by_id(number) if number else None
        if capture and not self._is_closed:
            await self._queue.put(self._page_of(capture))

    async def add_read(self, capture: Capture, extraction: Extraction | None) -> None:
        """See `documenter.OnRead`."""
        await self._show(capture, extraction)

    async def add_missed(self) -> None:
        """Hand over what was kept, or read, when the store went away."""
        parts = self._parts()
        most = Documents(parts.database).cursor() if self._reads else math.inf
        for capture in list(parts.captures.after(self._up_to)):
            if capture.id <= most:
                await self._show(capture)

    async def _show(self, capture: Capture, extraction: Extraction | None = None) -> None:
        """Hand over a page once; waits while the queue is full."""
        number = capture.id
        if number <= self._up_to or number in self._beyond:
            return
        if capture.crawl == self._crawl and not self._is_closed:
            await self._queue.put(self._page_of(capture, extraction))
        self._beyond.add(number)
        while self._up_to + 1 in self._beyond:
            self._up_to += 1
            self._beyond.remove(self._up_to)

    def _page_of(self, capture: Capture, extraction: Extraction | None = None) -> Page:
        from crawl4r.workspace.page import Page  # noqa: PLC0415 - a command shows none

        return Page(capture, self._read_bytes, extraction=extraction, reader=self._page_reader)

    def _read_bytes(self, sha256: str) -> bytes | None:
        return self._parts().blobs.read(sha256)

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
