"""The processes that make documents and passages, with the limits of the section `content`."""

from __future__ import annotations

from typing import Any

from crawl4r.clock import REAL_CLOCK, Clock
from crawl4r.processes.sandbox import Sandbox
from crawl4r.settings.load import Settings


def make_readers(
    entry: str,
    config: Any,
    settings: Settings,
    clock: Clock = REAL_CLOCK,
    *,
    workers: int | None = None,
    patience: int = 1,
) -> Sandbox:
    """Processes that run one of `entries`. Enter the sandbox as a context; leaving it ends them.

    Processes of low priority get `patience` times the time limit.
    """
    content = settings.content
    return Sandbox(
        entry,
        config,
        workers=workers or content.workers,
        seconds=content.seconds * patience,
        memory_bytes=content.memory_mb * 1024**2,
        clock=clock,
    )
