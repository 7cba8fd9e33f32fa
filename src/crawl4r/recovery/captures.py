"""Captures come back from the lines of the metadata, under their numbers.

A capture whose bytes are gone comes back without them, and says so: nothing that reads the archive
later may look for bytes that are not there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from crawl4r.archive.captures import Captures
from crawl4r.archive.lines.metadata_reading import CaptureLine, MetadataLines
from crawl4r.model import Capture, Verdict
from crawl4r.recovery.outcome import Outcome, StoredBytes
from crawl4r.recovery.salvaged_tables import CAPTURES
from crawl4r.storage.crawls import Crawls, is_name
from crawl4r.storage.database import Database
from crawl4r.storage.salvage import Salvage
from crawl4r.urls.canonical import split

_AT_ONCE = 1_000  # captures a transaction
_SAME_MOMENT = 0.002  # seconds; lines have milliseconds
_LOST = "its bytes are lost"
# What the damaged state.db says of a capture, and which captures have lost their bytes.
_WORK = """
CREATE TEMP TABLE told (
    id INTEGER PRIMARY KEY, at REAL, status INTEGER, sha256 BLOB, request INTEGER, crawl INTEGER,
    headers TEXT
);
CREATE TEMP TABLE without_bytes (id INTEGER PRIMARY KEY);
"""


class _Told(NamedTuple):
    at: float
    status: int
    sha256: bytes | None
    request: int | None
    crawl: int | None
    headers: str


class CaptureRecovery:
    """Fills pages and captures. The crawls that are known so far are in the database."""

    def __init__(self, database: Database, stored: StoredBytes, outcome: Outcome) -> None:
        self._database = database
        self._captures = Captures(database)
        self._crawls = Crawls(database)
        self._stored = stored
        self._outcome = outcome
        self._numbers: dict[str, int | None] = {}  # of crawls, by name
        for statement in _WORK.split(";")[:-1]:
            database.write(statement)

    def note_told(self, salvage: Salvage) -> None:
        """Note what the damaged state.db tells of captures besides their lines."""
        columns = list(CAPTURES.columns)
        for row in salvage.rows(CAPTURES):
            told = dict(zip(columns, row, strict=True))
            self._database.write(
                "INSERT OR IGNORE INTO told VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    told["id"], told["fetched_at"], told["status"], told["sha256"],
                    told["request"], told["crawl_id"], told["headers"],
                ),
            )  # fmt: skip
        self._database.commit()

    def bring_back(self, lines: MetadataLines, on_read: Callable[[int], None]) -> None:
        last = 0
        for number, (line, done) in enumerate(lines.captures(), 1):
            found = line.capture.id
            if found <= last and self._captures.by_id(found):
                self._outcome.doubled_lines += 1
                continue
            last = max(last, found)
            self._keep(line)
            if number % _AT_ONCE == 0:
                self._database.commit()
                on_read(done)
        self._database.commit()
        self._outcome.unreadable_lines += lines.unreadable
        self._outcome.torn_lines += lines.is_torn

    def _keep(self, line: CaptureLine) -> None:
        capture = self._completed(line)
        if capture.sha256 and not self._stored.has(capture.sha256):
            capture = without_bytes(capture)
            self._database.write("INSERT INTO without_bytes VALUES (?)", (capture.id,))
            self._outcome.without_bytes += 1
        newest = self._captures.newest_at(capture.url)
        self._captures.add(capture, is_newest=newest is None or newest <= capture.fetched_at)
        self._outcome.captures += 1

    def _completed(self, line: CaptureLine) -> Capture:
        """A capture with what its line lacks: from what is left of state.db, when that agrees."""
        capture, told = line.capture, self._told(line.capture)
        if told is None:
            return capture._replace(crawl=self._crawl_of(line))
        headers = [(str(name), str(value)) for name, value in json.loads(told.headers)]
        return capture._replace(
            fetched_at=told.at,
            headers=headers,
            request=told.request if self._has("requests", told.request) else None,
            crawl=told.crawl if self._has("crawls", told.crawl) else self._crawl_of(line),
        )

    def _told(self, capture: Capture) -> _Told | None:
        rows = self._database.read(
            "SELECT at, status, sha256, request, crawl, headers FROM told WHERE id = ?",
            (capture.id,),
        )
        told = _Told(*rows[0]) if rows else None
        if told is None or told.status != capture.status:
            return None
        same_bytes = (told.sha256.hex() if told.sha256 else None) == capture.sha256
        is_same = same_bytes and abs(told.at - capture.fetched_at) < _SAME_MOMENT
        return told if is_same and _are_pairs(told.headers) else None

    def _has(self, table: str, number: int | None) -> bool:
        if number is None:
            return False
        return bool(self._database.read(f"SELECT 1 FROM {table} WHERE id = ?", (number,)))

    def _crawl_of(self, line: CaptureLine) -> int | None:
        """The crawl that a line names, made when it is unknown; None for an import."""
        if line.says_crawl and line.crawl is None:
            return None
        name = line.crawl if is_name(line.crawl) else None
        key = name or ""
        if key not in self._numbers:
            self._numbers[key] = self._named(name, line.capture)
        return self._numbers[key]

    def _named(self, name: str | None, first: Capture) -> int:
        """The crawl of this name; for lines that name none the first of the store."""
        known = self._crawls.find(name) if name else next(iter(self._crawls.all()), None)
        if known is None:
            name = name or self._crawls.free_name(split(first.url).netloc)
            known = self._crawls.add(name, first.fetched_at)
            self._database.write("UPDATE crawls SET state = 'stopped' WHERE id = ?", (known.id,))
        return known.id


def without_bytes(capture: Capture) -> Capture:
    """A capture as it is true when its bytes are gone: what the server answered, and no page."""
    if capture.verdict is Verdict.NOT_MODIFIED:
        return capture._replace(sha256=None, reason="the bytes that it confirms are lost")
    reason = f"{capture.reason}; {_LOST}" if capture.reason else _LOST
    is_page = capture.verdict is Verdict.OK
    verdict = Verdict.UNREADABLE if is_page else capture.verdict
    return capture._replace(sha256=None, bytes=0, verdict=verdict, reason=reason)


def _are_pairs(headers: str) -> bool:
    found = json.loads(headers)
    return all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(each, str) for each in pair)
        for pair in found
    )
