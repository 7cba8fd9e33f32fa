"""Index all that waits, in one go."""

from __future__ import annotations

import time
from collections.abc import Callable

from crawl4r.indexing.indexer import Indexer, IndexProgress


def index_all(
    indexer: Indexer,
    *,
    with_vectors: bool = True,
    on_progress: Callable[[IndexProgress, tuple[int, int]], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> IndexProgress:
    """Everything that is to be done now, words first."""
    told_at = -1.0
    while True:
        done = indexer.catch_up() + (indexer.embed_some() if with_vectors else 0)
        if on_progress and (not done or clock() - told_at > 0.2):
            on_progress(indexer.progress, indexer.behind())
            told_at = clock()
        if not done:
            return indexer.progress
