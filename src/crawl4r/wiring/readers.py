"""Processes that make documents, and passages of them, under the limits of the section `content`."""

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
    """Processes that run one of `entries`, to be ended by whoever enters the sandbox.

    Those that work behind everything else get `patience` times as long.
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
