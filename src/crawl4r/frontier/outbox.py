"""The outbox of a discoverer: URLs to announce, each with the result of its visit.

A URL is noted in the transaction that admits it, and announced in the one that ends its visit. The
announcer reads those after the last delivered number, so a crash neither repeats nor loses any.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crawl4r.frontier.guesses import is_in_vain
from crawl4r.model import UrlState, Verdict, Visit
from crawl4r.storage.database import Database

_AFTER = """
SELECT a.id, a.at, a.again, u.url, u.page_type, u.depth, r.url, u.found_by, u.rule,
    u.written, a.status, a.bytes, a.latency_ms
FROM announcements a JOIN urls u ON u.id = a.url_id LEFT JOIN urls r ON r.id = u.referrer
WHERE a.id > ? ORDER BY a.id LIMIT ?
"""
_NOTE = """
INSERT INTO unannounced SELECT id, ?, {again} FROM urls WHERE crawl_id = ? AND {which}
ON CONFLICT DO UPDATE SET at = excluded.at
"""
_NOTE_NEW = _NOTE.format(again=0, which="url = ?")
_NOTE_AGAIN = _NOTE.format(again=1, which=f"state = ? AND NOT {is_in_vain()}")
_NOTE_WAITING = _NOTE.format(again=1, which="state = 'pending' AND capture IS NOT NULL")
_RELEASE = """
INSERT INTO announcements (url_id, at, again, status, bytes, latency_ms)
SELECT url_id, at, again, ?, ?, ? FROM unannounced WHERE url_id = ?
"""
# Rules of the discoverer: the scraper checks the scope, but not depth and traps.
_KEPT_BACK = frozenset([Verdict.OUT_OF_SCOPE, Verdict.CAPPED])


class Announcement(NamedTuple):
    """An admitted URL and the discoverer's own answer for it. Numbers grow and are never used twice."""

    number: int
    at: float  # epoch seconds
    is_again: bool  # announced before; to be visited again
    url: str
    page_type: str
    depth: int
    referrer: str | None
    found_by: str
    rule: str
    written: str
    status: int | None  # None without an answer or a request
    bytes: int | None
    latency_ms: int | None


class Announcements:
    """Those of one crawl. Rows of state.db; durable when the database commits."""

    def __init__(self, database: Database, crawl: int) -> None:
        self._database = database
        self._crawl = crawl

    def number_from(self, last: int) -> None:
        """Use only numbers above this one: an earlier database has already used the others."""
        rows = self._database.read("SELECT seq FROM sqlite_sequence WHERE name = 'announcements'")
        if not rows:
            self._database.write("INSERT INTO sqlite_sequence VALUES ('announcements', ?)", (last,))
        elif rows[0][0] < last:
            self._database.write(
                "UPDATE sqlite_sequence SET seq = ? WHERE name = 'announcements'", (last,)
            )

    def note(self, url: str, now: float) -> None:
        """Note an admitted URL, to announce it after its visit."""
        self._database.write(_NOTE_NEW, (now, self._crawl, url))

    def note_all_again(self, state: UrlState, now: float) -> None:
        """Note all URLs in this state for another visit, except guesses without a result."""
        self._database.write(_NOTE_AGAIN, (now, self._crawl, state.value))

    def note_waiting_again(self, now: float) -> None:
        """Note the known pending URLs for another visit."""
        self._database.write(_NOTE_WAITING, (now, self._crawl))

    def release(self, visit: Visit) -> None:
        """Announce a URL after its visit, unless a retry follows or a rule holds it back."""
        ending, capture, failure = visit.ending, visit.capture, visit.failure
        if ending.state is UrlState.WAITING or ending.verdict in _KEPT_BACK:
            return
        answer: tuple[int | None, ...] = (None, None, None)
        if capture:
            answer = (capture.status, capture.bytes, capture.latency_ms)
        elif failure and failure.status is not None:
            answer = (failure.status, None, round(failure.latency * 1000))
        if self._database.write(_RELEASE, (*answer, ending.url_id)).rowcount > 0:
            self._database.write("DELETE FROM unannounced WHERE url_id = ?", (ending.url_id,))

    def after(self, number: int, most: int) -> list[Announcement]:
        rows: list[tuple[Any, ...]] = self._database.read(_AFTER, (number, most))
        return [Announcement(row[0], row[1], bool(row[2]), *row[3:]) for row in rows]

    def forget(self, number: int) -> None:
        """Delete the announcements up to this number, which are delivered."""
        self._database.write("DELETE FROM announcements WHERE id <= ?", (number,))
