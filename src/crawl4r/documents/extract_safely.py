"""Reads the body of a page in a process that owns nothing.

The process may die of the page: then the page gets the verdict `unreadable`, and the caller goes on.
"""

from __future__ import annotations

from crawl4r import events
from crawl4r.model import Capture, Extraction, PageBody, PageVerdict, ReadOptions, Verdict
from crawl4r.processes.sandbox import Sandbox, SandboxKilled

_EVERYTHING = ReadOptions()


def page_of(capture: Capture, body: bytes) -> PageBody:
    """The body of a capture, and what is known of it."""
    declared = next((v for k, v in capture.headers if k == "content-type"), capture.content_type)
    return PageBody(body, capture.url, declared, capture.status, capture.headers)


async def extract_safely(
    sandbox: Sandbox, page: PageBody, options: ReadOptions = _EVERYTHING
) -> Extraction:
    """Read a page in the sandbox; one that breaks the reader gets a verdict that says so."""
    body, *known = page
    try:
        return await sandbox.run([known, options], body, Extraction)
    except SandboxKilled as killed:
        events.emit(events.PAGE_UNREADABLE, 30, url=page.url, reason=killed.reason)
        return Extraction(PageVerdict(Verdict.UNREADABLE, killed.reason, ("reader-killed",)))
