"""Answers that another crawl of the store got: a page that several crawls want is asked for once.

lease ──> another crawl is asking? ──> wait until its visit is kept ──┐
  │                                                                   v
  └────────────────> another crawl has a fresh answer? ──> its bytes, judged by this crawl's rules
"""

from __future__ import annotations

import asyncio

from msgspec import Struct

from crawl4r.archive.blobs.port import Blobs
from crawl4r.archive.captures import Captures
from crawl4r.clock import Clock
from crawl4r.errors import StorageDamaged
from crawl4r.model import REJECTED, Capture, Lease, Response, Verdict
from crawl4r.politeness.answers import RETRIED

# Answers that stand for the page; a failure or a block may have been meant for the other crawl.
_LASTING = (REJECTED | {Verdict.OK, Verdict.NOT_MODIFIED, Verdict.REDIRECT, Verdict.HTTP_ERROR}) - {
    Verdict.BLOCKED
}


class KeptAnswer(Struct, frozen=True):
    """An answer from the archive."""

    capture: Capture
    content: int | None  # the capture that holds the page, if there is one
    answer: Response


class AnswersUnderWay:
    """The URLs that crawls of this process are asking for, until their visits are kept."""

    def __init__(self) -> None:
        self.urls: dict[str, asyncio.Event] = {}
        self.has_neighbours = False  # several crawls of the store have pages


class SharedAnswers:
    """What one crawl may take from the others of its store."""

    def __init__(
        self,
        captures: Captures,
        blobs: Blobs,
        clock: Clock,
        crawl: int,
        fresh_for: float,
        under_way: AnswersUnderWay,
    ) -> None:
        """An answer is fresh for `fresh_for` seconds; 0: never."""
        self._captures = captures
        self._blobs = blobs
        self._wall = clock.wall
        self._crawl = crawl
        self._fresh_for = fresh_for
        self._under_way = under_way
        self._own: set[str] = set()

    async def find(self, lease: Lease) -> KeptAnswer | None:
        """A fresh answer of another crawl. None: this crawl asks, and others wait until `end`."""
        while self._fresh_for and (other := self._under_way.urls.get(lease.url)):
            await other.wait()
        if self._fresh_for and self._under_way.has_neighbours and (kept := self._kept(lease)):
            return kept
        if lease.url not in self._under_way.urls:
            self._under_way.urls[lease.url] = asyncio.Event()
            self._own.add(lease.url)
        return None

    def end(self, url: str) -> None:
        """The visit of a URL is kept, or it failed: others go on."""
        if url in self._own:
            self._own.remove(url)
            self._under_way.urls.pop(url).set()

    def can_read(self, lease: Lease) -> bool:
        """Whether the page that the validators of a lease belong to is in the store."""
        sha256 = self._captures.sha256_before(lease.url, lease.content)
        return sha256 is not None and bool(self._blobs.locate(sha256))

    def page_behind(self, lease: Lease) -> KeptAnswer | None:
        """The page that the validators of a lease belong to."""
        content = self._captures.by_id(lease.content) if lease.content else None
        return self._answer(content, content) if content else None

    def _kept(self, lease: Lease) -> KeptAnswer | None:
        newest = self._captures.newest_answer(lease.url)
        if newest is None or newest.crawl in {None, self._crawl}:
            return None
        if not 0 <= self._wall() - newest.fetched_at < self._fresh_for:
            return None
        if newest.verdict not in _LASTING or newest.status in RETRIED:
            return None
        content: Capture | None = newest
        if newest.verdict is Verdict.NOT_MODIFIED:
            content = self._captures.good_before(newest)
        return self._answer(newest, content) if content else None

    def _answer(self, newest: Capture, content: Capture) -> KeptAnswer | None:
        body: bytes | None = b""
        if content.sha256:
            try:
                body = self._blobs.read(content.sha256)
            except StorageDamaged:
                body = None
        if body is None or (content.verdict is Verdict.OK and not content.sha256):
            return None
        answer = Response(
            url=content.url,
            status=content.status,
            headers=content.headers,
            body=body,
            sent_at=0.0,
            latency=0.0,
            wire_bytes=0,
        )
        has_content = content.verdict is Verdict.OK
        return KeptAnswer(newest, content.id if has_content else None, answer)
