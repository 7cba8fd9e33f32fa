"""The captures of a page over time, and what each meant."""

from __future__ import annotations

from msgspec import Struct

from crawl4r.archive.documents import ExtractionRow
from crawl4r.archive.dropped import Dropped
from crawl4r.model import Capture


class HistoryEntry(Struct, frozen=True):
    """One capture of a URL, and what it meant for the document."""

    capture_id: int
    captured_at: float  # epoch seconds
    status: int
    verdict: str
    reason: str
    change: str  # new, unchanged, changed, missing, gone, rejected, dropped, none, or unread
    added: int  # words
    removed: int
    sha256: str | None
    content_hash: str | None
    dropped_at: float | None = None  # when gc removed the bytes
    dropped_by: str = ""  # the option that said so


def entry_of(capture: Capture, read: ExtractionRow | None, dropped: Dropped | None) -> HistoryEntry:
    return HistoryEntry(
        capture_id=capture.id,
        captured_at=capture.fetched_at,
        status=capture.status,
        verdict=read.verdict if read else capture.verdict.value,
        reason=read.reason if read else capture.reason,
        change=read.change.value if read else "unread",
        added=read.added if read else 0,
        removed=read.removed if read else 0,
        sha256=capture.sha256,
        content_hash=read.content_hash if read else None,
        dropped_at=dropped.at if dropped else None,
        dropped_by=dropped.why if dropped else "",
    )
