"""The captures: one row per visit with an answer, and queries on them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from crawl4r.errors import StorageDamaged
from crawl4r.formats.json_line import as_json
from crawl4r.model import Capture, Failure, Verdict, Visit
from crawl4r.storage.database import Database
from crawl4r.urls.canonical import split

_COLUMNS = (
    "fetched_at, status, verdict, reason, sha256, bytes, content_type, encoding, headers, etag, "
    "last_modified, page_type, depth, referrer, latency_ms, retries, proxy, http_version, address, "
    "location, request, crawl_id"
)
_INSERT = f"INSERT INTO captures (id, page_id, {_COLUMNS}) VALUES (?, ?{', ?' * 22})"
_SELECT = (
    f"SELECT u.url, {', '.join('c.' + name for name in _COLUMNS.split(', '))}, c.id"
    " FROM captures c JOIN pages u ON u.id = c.page_id"
)
_PAGE = "SELECT id FROM pages WHERE url = ?"
_ADD_PAGE = """
INSERT INTO pages (url, host_id) VALUES (?, (SELECT id FROM hosts WHERE name = ?))
"""
_NEWEST_OF_PAGE = """
UPDATE pages SET capture = ?, content = coalesce(?, content) WHERE id = ?
"""

# An overloaded or blocking host tells nothing about the page.
_ANSWER_BEFORE = """
SELECT fetched_at, status, verdict, sha256, location FROM captures
WHERE page_id = (SELECT id FROM pages WHERE url = ?) AND id < ?
    AND status < 500 AND status NOT IN (408, 425, 429) AND verdict <> 'blocked'
ORDER BY fetched_at DESC, id DESC LIMIT 1
"""
_NEWEST = 2**63 - 1
GONE = frozenset([404, 410])
SAME_MOMENT = 1e-6  # seconds, the precision of dates in files


class CapturedAnswer(NamedTuple):
    """The parts of a capture that show whether the next one differs."""

    at: float  # epoch seconds
    status: int
    verdict: Verdict
    sha256: str | None
    location: str | None

    @property
    def is_gone(self) -> bool:
        return self.status in GONE

    @property
    def said(self) -> str | None:
        """The value to compare: the hash of a page, the target of a redirect, else the verdict."""
        if self.verdict is Verdict.REDIRECT:
            return self.location
        is_page = self.verdict in {Verdict.OK, Verdict.NOT_MODIFIED}
        return self.sha256 if is_page else f"{self.verdict.value} {self.status}"


def answer_in(capture: Capture) -> CapturedAnswer:
    return CapturedAnswer(
        capture.fetched_at, capture.status, capture.verdict, capture.sha256, capture.location
    )


class Captures:
    """Rows of state.db; durable when the database commits."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._crawl_names: dict[int, str] = {}

    def add(self, capture: Capture, *, is_newest: bool = True) -> int:
        """Record a capture; returns its id, which grows with time.

        An imported capture may be older than what is known of its page (not `is_newest`). One that has
        an id, as from a line of the metadata, keeps it.
        """
        page = self._page_of(capture.url)
        row = (
            capture.id or None,
            page,
            capture.fetched_at,
            capture.status,
            capture.verdict.value,
            capture.reason,
            bytes.fromhex(capture.sha256) if capture.sha256 else None,
            capture.bytes,
            capture.content_type,
            capture.encoding,
            as_json(capture.headers).decode("utf-8", "surrogatepass"),
            capture.etag,
            capture.last_modified,
            capture.page_type,
            capture.depth,
            capture.referrer,
            capture.latency_ms,
            capture.retries,
            capture.proxy,
            capture.http_version,
            capture.address,
            capture.location,
            capture.request,
            capture.crawl,
        )
        number = int(self._database.write(_INSERT, row).lastrowid or 0)
        if is_newest:
            content = number if capture.verdict is Verdict.OK else None
            self._database.write(_NEWEST_OF_PAGE, (number, content, page))
        return number

    def _page_of(self, url: str) -> int:
        """The number of a page; a new one when the store knows nothing of the URL."""
        if rows := self._database.read(_PAGE, (url,)):
            return int(rows[0][0])
        host = split(url).host
        self._database.write("INSERT OR IGNORE INTO hosts (name) VALUES (?)", (host,))
        return int(self._database.write(_ADD_PAGE, (url, host)).lastrowid or 0)

    def add_attempts(self, visits: Iterable[Visit], offset: float, now: float) -> None:
        """Record visits without an answer, for `why`.

        `offset` converts times of requests to epoch seconds; an unsent request gets the time `now`.
        """
        rows = [
            (
                self._page_of(visit.lease.url),
                failure.sent_at + offset if failure.sent_at else now,
                failure.verdict.value,
                with_wait(failure),
                failure.status,
                round(failure.latency * 1000),
            )
            for visit in visits
            if (failure := visit.failure)
        ]
        if rows:
            self._database.write_many("INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?)", rows)

    def of_url(self, url: str) -> list[Capture]:
        """All captures of a canonical URL, oldest first."""
        order = "ORDER BY c.fetched_at, c.id"
        rows = self._database.stream(f"{_SELECT} WHERE u.url = ? {order}", (url,))
        return [_capture_of(row) for row in rows]

    def latest(self, url: str, before: float | None = None) -> Capture | None:
        """The newest capture of a URL with bytes, optionally not later than `before`."""
        when = "AND c.fetched_at <= ?" if before is not None else ""
        parameters = (url,) if before is None else (url, before)
        rows = self._database.read(
            f"{_SELECT} WHERE u.url = ? AND c.sha256 IS NOT NULL {when}"
            " ORDER BY c.fetched_at DESC, c.id DESC LIMIT 1",
            parameters,
        )
        return _capture_of(rows[0]) if rows else None

    def good_before(self, capture: Capture) -> Capture | None:
        """The newest good capture of the same URL before this one."""
        rows = self._database.read(
            f"{_SELECT} WHERE u.url = ? AND c.id < ? AND c.verdict = 'ok'"
            " ORDER BY c.fetched_at DESC, c.id DESC LIMIT 1",
            (capture.url, capture.id),
        )
        return _capture_of(rows[0]) if rows else None

    def with_bytes_at(self, url: str, moment: float, within: float = SAME_MOMENT) -> Capture | None:
        """The newest capture of a URL with bytes, at a time plus or minus `within` seconds."""
        rows = self._database.read(
            f"{_SELECT} WHERE u.url = ? AND c.fetched_at BETWEEN ? AND ? AND c.sha256 IS NOT NULL"
            " ORDER BY c.fetched_at DESC, c.id DESC LIMIT 1",
            (url, moment - within, moment + within),
        )
        return _capture_of(rows[0]) if rows else None

    def hashes_at(self, url: str, moment: float, most: int) -> list[str | None]:
        """The hashes of at most `most` captures of a URL at a time."""
        rows = self._database.read(
            "SELECT c.sha256 FROM captures c JOIN pages u ON u.id = c.page_id"
            " WHERE u.url = ? AND c.fetched_at BETWEEN ? AND ? LIMIT ?",
            (url, moment - SAME_MOMENT, moment + SAME_MOMENT, most),
        )
        return [sha256.hex() if sha256 else None for (sha256,) in rows]

    def newest_answer(self, url: str) -> Capture | None:
        """The newest capture of a URL, if it has one."""
        rows = self._database.read(
            f"{_SELECT} WHERE c.id = (SELECT capture FROM pages WHERE url = ?)", (url,)
        )
        return _capture_of(rows[0]) if rows else None

    def newest(self, url: str) -> Capture:
        """The newest capture of a URL that has one."""
        rows = self._database.read(f"{_SELECT} WHERE u.url = ? ORDER BY c.id DESC LIMIT 1", (url,))
        return _capture_of(rows[0])

    def last_visit(self, url: str) -> float | None:
        """The time of the last request for this URL, with or without an answer."""
        (row,) = self._database.read(
            "SELECT max(at) FROM (SELECT max(c.fetched_at) AS at FROM captures c JOIN pages u"
            " ON u.id = c.page_id WHERE u.url = ?1 UNION ALL SELECT max(a.at) FROM attempts a"
            " JOIN pages u ON u.id = a.page_id WHERE u.url = ?1)",
            (url,),
        )
        return row[0] if row[0] is None else float(row[0])

    def newest_at(self, url: str) -> float | None:
        """The time of the newest capture of a URL, or None."""
        (row,) = self._database.read(
            "SELECT max(fetched_at) FROM captures"
            " WHERE page_id = (SELECT id FROM pages WHERE url = ?)",
            (url,),
        )
        return None if row[0] is None else float(row[0])

    def sha256_before(self, url: str, content: int | None = None) -> str | None:
        """The content that a 304 confirms: that of the capture whose validators were sent, by default
        the page's newest one with content."""
        rows = self._database.read(
            "SELECT sha256 FROM captures"
            " WHERE id = coalesce(?, (SELECT content FROM pages WHERE url = ?))",
            (content, url),
        )
        return rows[0][0].hex() if rows and rows[0][0] else None

    def answer_before(self, url: str, number: int = _NEWEST) -> CapturedAnswer | None:
        """The newest telling answer for a page before capture `number`."""
        rows = self._database.read(_ANSWER_BEFORE, (url, number))
        if not rows:
            return None
        at, status, verdict, sha256, location = rows[0]
        try:
            return CapturedAnswer(
                at, status, Verdict(verdict), sha256.hex() if sha256 else None, location
            )
        except (ValueError, AttributeError) as problem:
            raise StorageDamaged(f"state.db: a capture of {url} is damaged") from problem

    def crawl_name(self, number: int | None) -> str | None:
        """The name of a crawl by its number; names never change."""
        if number is None:
            return None
        if number not in self._crawl_names:
            rows = self._database.read("SELECT name FROM crawls WHERE id = ?", (number,))
            if not rows:
                return None
            self._crawl_names[number] = str(rows[0][0])
        return self._crawl_names[number]

    def last_id(self) -> int:
        (row,) = self._database.read("SELECT coalesce(max(id), 0) FROM captures")
        return int(row[0])

    def by_id(self, number: int) -> Capture | None:
        rows = self._database.read(f"{_SELECT} WHERE c.id = ?", (number,))
        return _capture_of(rows[0]) if rows else None

    def count_after(self, number: int) -> int:
        (row,) = self._database.read("SELECT count(*) FROM captures WHERE id > ?", (number,))
        return int(row[0])

    def after(self, capture_id: int) -> Iterator[Capture]:
        """Captures after the given one, in the order of commits."""
        for row in self._database.stream(f"{_SELECT} WHERE c.id > ? ORDER BY c.id", (capture_id,)):
            yield _capture_of(row)


def with_wait(failure: Failure) -> str:
    """The reason with the Retry-After, which the politeness receipt checks."""
    if failure.retry_after is None:
        return failure.reason
    return f"{failure.reason}, retry after {round(failure.retry_after, 3)} s"


def _capture_of(row: tuple[Any, ...]) -> Capture:
    fields = list(row)
    try:
        fields[3] = Verdict(fields[3])
        fields[5] = fields[5].hex() if fields[5] else None
        fields[9] = [(str(name), str(value)) for name, value in json.loads(fields[9])]
    except (ValueError, TypeError, AttributeError, RecursionError) as problem:
        raise StorageDamaged(
            f"state.db: capture {fields[-1]} of {fields[0]} is damaged"
        ) from problem
    return Capture(*fields)
