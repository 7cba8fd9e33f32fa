"""Run the indexer beside a crawl, in a thread of low priority."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

from crawl4r import events
from crawl4r.errors import Crawl4rError
from crawl4r.indexing.indexer import Indexer, IndexProgress

OpenIndexer = Callable[[], AbstractContextManager[Indexer]]

_PAUSE = 0.5  # seconds between two looks for new documents
_NICENESS = 10  # the index may wait, pages may not


class IndexFollower:
    """Follows the documents with the index: words at once, vectors when there is time."""

    def __init__(self, open_indexer: OpenIndexer, progress: IndexProgress | None = None) -> None:
        """`progress`: the counts of an earlier follower of the same crawl, to which this one adds."""
        self._open = open_indexer
        self._is_ending = threading.Event()
        self._is_stopped = threading.Event()
        self.progress = progress or IndexProgress()
        self.behind = (0, 0)  # unindexed documents, passages without a vector

    async def follow(self) -> None:
        """Index until `end` was called and everything is indexed, or until `stop`."""
        with ThreadPoolExecutor(1, "index") as pool:
            try:
                await asyncio.get_running_loop().run_in_executor(pool, self._run)
            finally:
                self.stop()

    def end(self) -> None:
        """Call when no more documents will come."""
        self._is_ending.set()

    def stop(self) -> None:
        """Stop now. The next run makes the missing vectors."""
        self._is_stopped.set()
        self._is_ending.set()

    def _run(self) -> None:
        """Log an error and leave the rest to `crawl4r index`: the crawl goes on."""
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
        try:
            self._keep_up()
        except Crawl4rError as problem:
            events.emit(events.INDEX_FAILED, 40, problem=str(problem))

    def _keep_up(self) -> None:
        with self._open() as indexer:
            indexer.progress = self.progress
            self.behind = indexer.behind()
            while True:
                is_last = self._is_ending.is_set()
                done = indexer.catch_up()
                if not self._is_stopped.is_set():
                    done += indexer.embed_some()
                self.behind = indexer.behind()
                if done and not self._is_stopped.is_set():
                    continue
                if is_last:
                    return
                self._is_ending.wait(_PAUSE)
