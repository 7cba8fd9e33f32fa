"""The crawl's end of its reading processes: no byte of a page is parsed anywhere else.

`reading_process` says what runs there, docs/decisions/0003 why.
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
    """The page broke its reader; `str()` says how."""


class SafeReader:
    """Sends pages to `sandbox`, which runs `entries.READER`."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def adopt(self, rules: LinkRules) -> None:
        """Read later pages by other rules."""
        self._sandbox.reconfigure(rules.as_json())

    async def read(
        self,
        page: PageBody,
        depth: int,
        *,
        with_likeness: bool = False,
        with_links: bool = False,
    ) -> PageReading:
        """The verdict on a page, and the links on it that are new."""
        head = (PAGE, depth, with_likeness, with_links, *page[1:])
        return await self._run(head, page.body, PageReading)

    async def read_listing(self, lease: Lease, content_type: str, body: bytes) -> Listing:
        """The URLs that a sitemap, a feed or an answer of an index names."""
        return await self._run((LISTING, lease, content_type), body, Listing)

    async def shape_of(self, page: PageBody) -> Likeness:
        """What a page looks like, to compare others with it."""
        return await self._run((SHAPE, page.url, page.content_type), page.body, Likeness)

    async def _run(self, head: tuple[Any, ...], body: bytes, kind: type[Answer]) -> Answer:
        try:
            return await self._sandbox.run(head, body, kind)
        except SandboxKilled as killed:
            raise Unreadable(killed.reason) from None
