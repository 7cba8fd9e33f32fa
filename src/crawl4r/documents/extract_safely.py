"""Reads the body of a page in a process that owns nothing.

The process may die of the page: then the page gets the verdict `unreadable`, and the caller goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crawl4r import events
from crawl4r.model import Capture, Extraction, PageVerdict, Verdict
from crawl4r.processes.sandbox import Sandbox, SandboxKilled


async def extract_safely(
    sandbox: Sandbox,
    capture: Capture,
    body: bytes,
    repeated: Iterable[int] = (),
    *,
    with_links: bool = False,
    learn: bool = False,
) -> Extraction:
    """Read the body of a capture; `learn` asks for the fingerprints of its blocks."""
    declared = next((v for k, v in capture.headers if k == "content-type"), capture.content_type)
    return await extract_body(
        sandbox,
        body,
        url=capture.url,
        content_type=declared,
        status=capture.status,
        headers=capture.headers,
        repeated=repeated,
        with_links=with_links,
        learn=learn,
    )


async def extract_body(
    sandbox: Sandbox,
    body: bytes,
    *,
    url: str,
    content_type: str,
    status: int = 200,
    headers: Sequence[tuple[str, str]] = (),
    repeated: Iterable[int] = (),
    with_links: bool = True,
    learn: bool = False,
) -> Extraction:
    """Read a body in the sandbox; a page that breaks the reader gets a verdict that says so."""
    head = {
        "url": url,
        "content_type": content_type,
        "status": status,
        "headers": list(headers),
        "repeated": list(repeated),
        "with_links": with_links,
        "learn": learn,
    }
    try:
        return await sandbox.run(head, body, Extraction)
    except SandboxKilled as killed:
        events.emit(events.PAGE_UNREADABLE, 30, url=url, reason=killed.reason)
        return Extraction(PageVerdict(Verdict.UNREADABLE, killed.reason, ("reader-killed",)))
