"""The composition root of documents: connects the parts that turn captures into documents."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from crawl4r.clock import REAL_CLOCK, Clock
from crawl4r.processes.entrypoints import CHUNKER, COMPARER, EXTRACTOR, SELECTOR
from crawl4r.processes.sandbox import Sandbox
from crawl4r.settings.load import Settings
from crawl4r.wiring.parts import Parts
from crawl4r.wiring.readers import make_readers

if TYPE_CHECKING:
    from crawl4r.documents.documenter import Documenter, OnRead


async def build_documenter(
    parts: Parts,
    settings: Settings,
    stack: contextlib.AsyncExitStack,
    on_read: OnRead | None = None,
) -> Documenter:
    """The documenter of a workspace; `stack` ends its processes."""
    # Imported late: a crawl without documents does not need the modules that compare texts.
    from crawl4r.documents.documenter import Documenter  # noqa: PLC0415

    sandbox = await stack.enter_async_context(make_extractors(settings, parts.clock))
    comparers = await stack.enter_async_context(make_comparers(settings, parts.clock))
    return Documenter(parts.database, parts.captures, parts.blobs, sandbox, comparers, on_read)


def make_extractors(settings: Settings, clock: Clock = REAL_CLOCK) -> Sandbox:
    """The processes that read pages. Enter the result as a context; leaving it ends them."""
    return make_readers(
        EXTRACTOR, {"max_characters": settings.content.max_characters}, settings, clock
    )


def make_comparers(settings: Settings, clock: Clock = REAL_CLOCK) -> Sandbox:
    """A process that compares two texts of a page; it starts with the first two."""
    return make_readers(COMPARER, None, settings, clock, workers=1)


def make_selectors(settings: Settings) -> Sandbox:
    """A process that looks for elements of pages; it starts with the first page."""
    return make_readers(SELECTOR, None, settings, workers=1)


def make_chunkers(settings: Settings) -> Sandbox:
    """A process that cuts texts into chunks; it starts with the first."""
    return make_readers(CHUNKER, None, settings, workers=1)
