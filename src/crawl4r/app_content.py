"""Who is wired to whom where pages become documents: for crawls, and for commands without one."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from crawl4r.app_parts import Parts
from crawl4r.entries import EXTRACTOR
from crawl4r.resilience.clock import REAL_CLOCK, Clock
from crawl4r.resilience.sandbox import Sandbox
from crawl4r.settings import Settings

if TYPE_CHECKING:
    from crawl4r.documenting import Documenter


async def build_documenter(
    parts: Parts, settings: Settings, stack: contextlib.AsyncExitStack
) -> Documenter:
    """What turns captures into documents; `stack` ends its processes."""
    # Only now: comparing texts takes modules that a crawl of links and bytes does without.
    from crawl4r.documenting import Documenter  # noqa: PLC0415

    sandbox = await stack.enter_async_context(make_extractors(settings, parts.clock))
    return Documenter(parts.database, parts.captures, parts.blobs, sandbox)


def make_extractors(settings: Settings, clock: Clock = REAL_CLOCK) -> Sandbox:
    """Processes that read pages, to be ended by whoever enters them."""
    content = settings.content
    return Sandbox(
        EXTRACTOR,
        None,
        workers=content.workers,
        seconds=content.seconds,
        memory_bytes=content.memory_mb * 1024**2,
        clock=clock,
    )
