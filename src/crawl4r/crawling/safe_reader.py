"""The crawl's side of its reading processes, the only place where bytes of pages are parsed.

`reading_process` has their jobs, docs/decisions/0003 the reasons.
"""

from __future__ import annotations

from typing import Any

from crawl4r.content.verdict.likeness import Likeness
from crawl4r.crawling.listings import Listing
from crawl4r.crawling.reader import PageReading
from crawl4r.crawling.reading_process import LISTING, PAGE, SHAPE
from crawl4r.model import Lease, PageBody
from crawl4r.processes.sandbox import Answer, Sandbox, SandboxKilled
from crawl4r.urls.policy import LinkRules


class Unreadable(Exception):
    """The page made its reader fail; `str()` tells how."""


class SafeReader:
    """Sends pages to `sandbox`, which runs `entries.READER`."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def adopt(self, rules: LinkRules) -> None:
        """Replace the rules for later pages."""
        self._sandbox.reconfigure(rules.as_json())

    async def read(
        self,
        page: PageBody,
        depth: int,
        *,
        with_likeness: bool = False,
        with_links: bool = False,
    ) -> PageReading:
        """The verdict on a page, and its new links."""
        head = (PAGE, depth, with_likeness, with_links, *page[1:])
        return await self._run(head, page.body, PageReading)

    async def read_listing(self, lease: Lease, content_type: str, body: bytes) -> Listing:
        """The URLs of a sitemap, a feed or a result page of an index."""
        return await self._run((LISTING, lease, content_type), body, Listing)

    async def shape_of(self, page: PageBody) -> Likeness:
        """The fingerprint of a page, for comparisons."""
        return await self._run((SHAPE, page.url, page.content_type), page.body, Likeness)

    async def _run(self, head: tuple[Any, ...], body: bytes, kind: type[Answer]) -> Answer:
        try:
            return await self._sandbox.run(head, body, kind)
        except SandboxKilled as killed:
            raise Unreadable(killed.reason) from None
