"""The questions of a reader for code with an event loop: a thread with its own reader answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from crawl4r.workspace.reader import WorkspaceReader

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from crawl4r.search.request import Answer, Hit
    from crawl4r.workspace.difference import PageDifference
    from crawl4r.workspace.export_report import ExportReport
    from crawl4r.workspace.history import HistoryEntry
    from crawl4r.workspace.options import ExportForm, ExportOptions, PathLike, SearchOptions

_Result = TypeVar("_Result")


class AsyncReader(WorkspaceReader):
    """A reader whose questions can be awaited, too. They see what is committed."""

    _thread: _ReaderThread | None = None

    def close(self) -> None:
        if self._thread:
            self._thread.close()
            self._thread = None
        super().close()

    async def search_async(self, query: str, **options: Unpack[SearchOptions]) -> Answer:
        """See `search`."""
        return await self._aside(lambda reader: reader.search(query, **options))

    async def similar_async(self, url: str, limit: int = 10) -> list[Hit]:
        """See `similar`."""
        return await self._aside(lambda reader: reader.similar(url, limit))

    async def history_async(self, url: str) -> list[HistoryEntry]:
        """See `history`."""
        return await self._aside(lambda reader: reader.history(url))

    async def diff_async(
        self, url: str, before: int | None = None, after: int | None = None
    ) -> PageDifference:
        """See `diff`."""
        return await self._aside(lambda reader: reader.diff(url, before, after))

    async def why_async(self, url: str) -> dict[str, Any]:
        """See `why`."""
        return await self._aside(lambda reader: reader.why(url))

    async def status_async(self) -> dict[str, Any]:
        """See `status`."""
        return await self._aside(lambda reader: reader.status())

    async def export_async(
        self, form: ExportForm, out: PathLike, **options: Unpack[ExportOptions]
    ) -> ExportReport:
        """See `export`."""
        return await self._aside(lambda reader: reader.export(form, out, **options))

    async def _aside(self, work: Callable[[WorkspaceReader], _Result]) -> _Result:
        if self._thread is None:
            self._thread = _ReaderThread(self._open_reader)
        return await self._thread.run(work)

    def _open_reader(self) -> WorkspaceReader:
        home: Path | None = self.home if self.home != self.path else None
        return WorkspaceReader(self.path, self.settings, read_only=True, home=home)


class _ReaderThread:
    """One thread and the reader that it has opened: SQLite's connections belong to a thread."""

    def __init__(self, open_reader: Callable[[], WorkspaceReader]) -> None:
        self._thread = ThreadPoolExecutor(1, "crawl4r-reader")
        self._open = open_reader
        self._reader: WorkspaceReader | None = None

    async def run(self, work: Callable[[WorkspaceReader], _Result]) -> _Result:
        return await asyncio.wrap_future(self._thread.submit(self._work, work))

    def _work(self, work: Callable[[WorkspaceReader], _Result]) -> _Result:
        if self._reader is None:
            self._reader = self._open()
        return work(self._reader)

    def close(self) -> None:
        self._thread.submit(self._close_reader).result()
        self._thread.shutdown()

    def _close_reader(self) -> None:
        if self._reader:
            self._reader.close()
