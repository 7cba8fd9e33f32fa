"""Reads pages for code that waits for it: in reading processes, driven by a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from crawl4r.content.extract.select import Selected
from crawl4r.documents.extract_safely import extract_safely, page_of
from crawl4r.errors import PageUnavailable, UsageError
from crawl4r.model import Capture, Extraction
from crawl4r.processes.sandbox import Sandbox, SandboxKilled
from crawl4r.settings.load import Settings
from crawl4r.wiring.documents import make_extractors, make_selectors

_Result = TypeVar("_Result")


class PageReader:
    """Its thread and its processes start with the first page; `close` ends them.

    One that does not `stay` ends them after each page.
    """

    def __init__(self, settings: Settings, *, stays: bool = True) -> None:
        self._settings = settings
        self._stays = stays
        self._thread: ThreadPoolExecutor | None = None
        self._work: _Work | None = None

    def read(self, capture: Capture, body: bytes) -> Extraction:
        """Everything that the body of a capture says."""
        return self._call(lambda work: work.read(capture, body))

    def select(
        self, body: bytes, content_type: str, css: str, fields: Mapping[str, str]
    ) -> Selected:
        """See `content.extract.select`. Raises UsageError for what is no selector."""
        found = self._call(lambda work: work.select(body, content_type, css, fields))
        if found.problem:
            raise UsageError(found.problem)
        return found

    def close(self) -> None:
        if self._thread is None:
            return
        if self._work:
            self._thread.submit(self._work.close).result()
        self._thread.shutdown()
        self._thread = self._work = None

    def _call(self, job: Callable[[_Work], Coroutine[Any, Any, _Result]]) -> _Result:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "crawl4r-pages")
        try:
            return self._thread.submit(self._run, job).result()
        finally:
            if not self._stays:
                self.close()

    def _run(self, job: Callable[[_Work], Coroutine[Any, Any, _Result]]) -> _Result:
        if self._work is None:
            self._work = _Work(self._settings)
        return self._work.runner.run(job(self._work))


class _Work:
    """What belongs to the thread: an event loop, and the processes that it drives."""

    def __init__(self, settings: Settings) -> None:
        self.runner = asyncio.Runner()
        self._settings = settings
        self._stack = AsyncExitStack()
        self._extractors: Sandbox | None = None
        self._selectors: Sandbox | None = None

    async def read(self, capture: Capture, body: bytes) -> Extraction:
        if self._extractors is None:
            made = make_extractors(self._settings)
            self._extractors = await self._stack.enter_async_context(made)
        return await extract_safely(self._extractors, page_of(capture, body))

    async def select(
        self, body: bytes, content_type: str, css: str, fields: Mapping[str, str]
    ) -> Selected:
        if self._selectors is None:
            made = make_selectors(self._settings)
            self._selectors = await self._stack.enter_async_context(made)
        head = {"content_type": content_type, "css": css, "fields": dict(fields)}
        try:
            return await self._selectors.run(head, body, Selected)
        except SandboxKilled as killed:
            raise PageUnavailable(f"the page cannot be read: {killed.reason}") from None

    def close(self) -> None:
        with self.runner:
            self.runner.run(self._stack.aclose())
