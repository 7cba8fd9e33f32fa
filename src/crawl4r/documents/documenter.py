"""The archive's captures become documents: from a cursor, restartable, never ahead of what is durable.

    captures after the cursor ──> bytes ──> sandbox: verdict, markdown, metadata ──> documents
                                                                                      │
          the cursor moves in the same transaction that keeps what was made of them <─┘

A rejected page never replaces a good text. A page that cannot be kept is rejected, with the reason.
Everything here can be thrown away and made again.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial

from crawl4r import events
from crawl4r.archive.blobs.port import Blobs
from crawl4r.archive.captures import GONE, Captures, answer_in
from crawl4r.archive.documents import DocumentChange, Documents, ExtractionRow, hash_of, id_of
from crawl4r.archive.dropped import DroppedBytes
from crawl4r.archive.follower import CaptureFollower
from crawl4r.archive.site_blocks import SiteBlocks
from crawl4r.content.compare.changes import TextChange, compare
from crawl4r.content.compare.near_duplicates import bands, similarity
from crawl4r.documents.compare import QUICK, Incomparable, compare_safely
from crawl4r.documents.extract_safely import extract_safely, page_of
from crawl4r.errors import Crawl4rError, StorageDamaged
from crawl4r.frontier.revisits import Revisits
from crawl4r.model import LISTING, REJECTED, Capture, Extraction, PageVerdict, ReadOptions, Verdict
from crawl4r.processes.sandbox import Sandbox
from crawl4r.storage.database import Database
from crawl4r.urls.canonical import split

# Bump when the same bytes would give another document: what an older version wrote is out of date.
EXTRACTOR_VERSION = 5

_NEAR = 0.9  # similarity from which one document stands for both
_AHEAD, _AHEAD_BYTES = 8, 32 * 1024**2  # pages that are read at once, and bytes of them
_JUDGED_HERE = (REJECTED | {Verdict.OK}) - {Verdict.SOFT_404}

# Called with each capture in order, and with what its page says: None where there is no page.
OnRead = Callable[[Capture, Extraction | None], Awaitable[None]]


class Documenter(CaptureFollower):
    """Turns captures into documents."""

    pause = 0.2  # a document is what a reader waits for

    def __init__(
        self,
        database: Database,
        captures: Captures,
        blobs: Blobs,
        sandbox: Sandbox,
        comparers: Sandbox,
        on_read: OnRead | None = None,
    ) -> None:
        """`sandbox` runs `entries.EXTRACTOR`, `comparers` runs `entries.COMPARER`.

        For `on_read`, pages are also read for their plain text, links and images.
        """
        super().__init__(captures)
        self._database = database
        self._blobs = blobs
        self._sandbox = sandbox
        self._comparers = comparers
        self._on_read = on_read
        self._documents = Documents(database)
        self._dropped = DroppedBytes(database, blobs.locate)
        self._site_blocks = SiteBlocks(database)
        self._revisits = Revisits(database)
        self.changes: Counter[str] = Counter()

    @property
    def cursor(self) -> int:
        return self._documents.cursor()

    def behind(self) -> int:
        """How many captures wait to be read."""
        return self._captures.count_after(self.cursor)

    async def finish(self) -> None:
        """Use what is known of sites too small for a whole lesson."""
        if self._is_stopped:
            return
        hosts = self._site_blocks.end_lessons()
        self._database.commit()
        for host in hosts:
            await self._read_again(host)

    def forget_all(self) -> None:
        """Begin anew at the next `catch_up`; nothing is durable before its first batch is."""
        self._documents.forget_all()

    async def _process(self, batch: Sequence[Capture]) -> None:
        lessons_over = []
        async with aclosing(self._extracted(batch)) as found:
            async for capture, extraction in found:
                change = await self._compare(capture, extraction)
                # No `await` from here to the cursor: another task could commit half of it.
                if self._keep_or_reject(capture, extraction, change):
                    lessons_over.append(split(capture.url).host)
                self._documents.move_cursor(capture.id)
                if self._on_read:
                    await self._on_read(capture, extraction)
        self._database.commit()
        for host in lessons_over:
            await self._read_again(host)

    async def _read_again(self, host: str) -> None:
        """The pages of a host that were read before it was known what repeats on them."""
        numbers = self._documents.captures_of(host)
        captures = [c for number in numbers if (c := self._captures.by_id(number))]
        async with aclosing(self._extracted(captures)) as found:
            async for capture, extraction in found:
                if extraction and extraction.document and _is_good(extraction):
                    self._attempt(capture, partial(self._put, capture, extraction))
        self._database.commit()

    async def _extracted(
        self, captures: Sequence[Capture]
    ) -> AsyncGenerator[tuple[Capture, Extraction | None], None]:
        """Each capture with what its page says, in order; a few pages are read at once."""
        waiting: deque[tuple[Capture, asyncio.Task[Extraction | None]]] = deque()
        ahead = size = 0
        try:
            while ahead < len(captures) or waiting:
                while ahead < len(captures) and len(waiting) < _AHEAD:
                    if waiting and size + captures[ahead].bytes > _AHEAD_BYTES:
                        break
                    task = asyncio.create_task(self._extract(captures[ahead]))
                    waiting.append((captures[ahead], task))
                    size += captures[ahead].bytes
                    ahead += 1
                capture, task = waiting.popleft()
                yield capture, await task
                size -= capture.bytes
        finally:
            for _, task in waiting:
                task.cancel()

    async def _extract(self, capture: Capture) -> Extraction | None:
        """None for a capture that holds no page: a redirect, a 304, an error, a sitemap, what the host
        shows for missing pages; and for one whose bytes gc removed. Other pages that were rejected are
        judged again: signatures get better.
        """
        if not _holds_page(capture):
            return None
        assert capture.sha256 is not None
        body = self._blobs.read(capture.sha256)
        if body is None and self._dropped.of(capture.sha256):
            return None
        if body is None:
            raise StorageDamaged(
                f"the bytes of {capture.url} ({capture.sha256}) are not in the store"
            )
        host = split(capture.url).host
        options = ReadOptions(
            self._on_read is not None,
            list(self._site_blocks.repeated(host)),
            self._site_blocks.is_learning(host),
        )
        return await extract_safely(self._sandbox, page_of(capture, body), options)

    async def _compare(self, capture: Capture, extraction: Extraction | None) -> TextChange | None:
        """How a text differs from the one that is there; None when there is none to compare with.

        Long texts are compared elsewhere. What was kept before is committed first, with its cursor:
        others may commit meanwhile.
        """
        if extraction is None or extraction.document is None or not _is_good(extraction):
            return None
        if self._is_past(capture) or not (before := self._documents.get(capture.url)):
            return None
        old, new = before.document.markdown, extraction.document.markdown
        if old == new or len(old) + len(new) <= QUICK:
            return compare(old, new)
        self._database.commit()
        try:
            return (await compare_safely(self._comparers, old, new)).change
        except Incomparable as problem:
            events.emit(events.TEXTS_INCOMPARABLE, 30, url=capture.url, reason=str(problem))
            return TextChange("changed", 0, 0, 1.0, is_cut=True)

    def _keep_or_reject(
        self, capture: Capture, extraction: Extraction | None, change: TextChange | None
    ) -> bool:
        """Keep what a capture means, or that it cannot be kept. True when it ends a lesson."""
        counted = self.changes.copy()
        lessons: list[bool] = []
        problem = self._attempt(
            capture, lambda: lessons.append(self._keep(capture, extraction, change))
        )
        if problem is None:
            return lessons[0]
        self.changes.clear()
        self.changes.update(counted)
        verdict = PageVerdict(Verdict.UNREADABLE, problem, ("not-kept",))
        self._record(capture, verdict, DocumentChange.REJECTED)
        return False

    def _attempt(self, capture: Capture, step: Callable[[], None]) -> str | None:
        """Do a step whole or not at all; why not, if what a page says makes it fail.

        The one place where such a fault is caught: the pages behind it must get their turn.
        """
        try:
            with self._database.savepoint():
                step()
        except Crawl4rError:
            raise
        except Exception as problem:
            reason = f"could not be kept: {type(problem).__name__}: {problem}"[:300]
            events.emit(events.PAGE_UNREADABLE, 30, url=capture.url, reason=reason)
            return reason
        return None

    def _keep(
        self, capture: Capture, extraction: Extraction | None, change: TextChange | None
    ) -> bool:
        """Record what the capture means; True when its site's lesson is over with it."""
        if extraction is None and _holds_page(capture):
            self._keep_without_bytes(capture)
            return False
        if self._is_past(capture):
            verdict = extraction.verdict if extraction else PageVerdict(capture.verdict)
            self._record(capture, verdict, DocumentChange.NONE, extraction)
            return False
        if extraction is None:
            self._keep_without_page(capture)
            return False
        if extraction.document is None or not _is_good(extraction):
            self._record(capture, extraction.verdict, _rejection(extraction))
            return False
        if change is None:
            self._put(capture, extraction)
            self._record(capture, extraction.verdict, DocumentChange.NEW, extraction)
            return self._site_blocks.learn(split(capture.url).host, extraction.blocks)
        if change.kind == "unchanged":
            self._documents.touch(capture.url, capture)
            self._record(capture, extraction.verdict, DocumentChange.UNCHANGED, extraction)
            self._correct_revisit(capture)
        else:
            self._put(capture, extraction)
            counts = (change.added, change.removed)
            self._record(capture, extraction.verdict, DocumentChange.CHANGED, extraction, counts)
        return False

    def _is_past(self, capture: Capture) -> bool:
        """What was imported may be older than what is known: then it changes nothing."""
        if capture.request is not None:
            return False
        known = self._documents.known_until(capture.url)
        return known is not None and capture.fetched_at < known

    def _keep_without_bytes(self, capture: Capture) -> None:
        """What was found before the bytes were dropped stays."""
        if self._documents.extraction(capture.id) is None:
            dropped = self._dropped.of(capture.sha256)
            verdict = PageVerdict(capture.verdict, dropped.words() if dropped else "")
            self._record(capture, verdict, DocumentChange.DROPPED)
        else:
            self.changes[DocumentChange.DROPPED.value] += 1

    def _keep_without_page(self, capture: Capture) -> None:
        verdict = PageVerdict(capture.verdict, capture.reason, ())
        if capture.verdict is Verdict.NOT_MODIFIED:
            self._documents.touch(capture.url, capture)
            self._record(capture, verdict, DocumentChange.UNCHANGED)
        elif capture.status in GONE and self._documents.get(capture.url):
            # Once may be a mistake of the site.
            before = self._captures.answer_before(capture.url, capture.id)
            is_gone = before is not None and before.is_gone
            if is_gone:
                self._documents.mark_gone(capture.url, capture.fetched_at)
            self._record(
                capture, verdict, DocumentChange.GONE if is_gone else DocumentChange.MISSING
            )
        elif capture.verdict in REJECTED:
            self._record(capture, verdict, DocumentChange.REJECTED)
        else:
            self._record(capture, verdict, DocumentChange.NONE)

    def _correct_revisit(self, capture: Capture) -> None:
        """Other bytes with the same text, as with a counter of visitors, do not make a page lively."""
        before = self._captures.answer_before(capture.url, capture.id)
        if before is None or capture.request is None:  # what was imported was not counted
            return
        if before.said != answer_in(capture).said:
            self._revisits.correct(capture.url, capture.id, capture.fetched_at - before.at)

    def _put(self, capture: Capture, extraction: Extraction) -> None:
        document = extraction.document
        assert document is not None
        own = id_of(document.url)
        near_of = self._near_of(extraction, own)
        before = bands(self._documents.signature_of(own))
        self._documents.put(document, capture, extraction.signature, near_of)
        self._documents.file_under(own, extraction.bands, before)
        self._let_go(own, extraction.signature, near_of)

    def _let_go(self, own: str, signature: bytes, near_of: str | None) -> None:
        """End standing for documents that are not like this one any more, or for all of them once
        another document stands for this one: each must be found by some text that is like it."""
        for other, said in self._documents.behind(own):
            if near_of is not None or similarity(signature, said) < _NEAR:
                self._documents.stand_alone(other)

    def _near_of(self, extraction: Extraction, own: str) -> str | None:
        for other, signature in self._documents.near(extraction.bands, own):
            if signature and similarity(extraction.signature, signature) >= _NEAR:
                return other
        return None

    def _record(
        self,
        capture: Capture,
        verdict: PageVerdict,
        change: DocumentChange,
        extraction: Extraction | None = None,
        counts: tuple[int, int] = (0, 0),
    ) -> None:
        document = extraction.document if extraction else None
        content_hash = hash_of(document.markdown) if document else None
        row = ExtractionRow(
            capture.id, EXTRACTOR_VERSION, verdict.verdict.value, verdict.reason, verdict.signals,
            content_hash, change, *counts,
        )  # fmt: skip
        self._documents.record(row)
        self.changes[change.value] += 1


def _holds_page(capture: Capture) -> bool:
    is_judged = capture.verdict in _JUDGED_HERE and capture.page_type != LISTING
    return is_judged and capture.sha256 is not None


def _is_good(extraction: Extraction) -> bool:
    return extraction.verdict.verdict is Verdict.OK


def _rejection(extraction: Extraction) -> DocumentChange:
    return DocumentChange.NONE if _is_good(extraction) else DocumentChange.REJECTED
