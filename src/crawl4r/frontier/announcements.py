"""What the frontier admitted and nobody else has been told yet: the outbox of a discoverer.

A URL is announced in the transaction that admits it. Whoever passes announcements on asks for those
past the last one that it knows to be delivered, so a crash between both repeats none and loses none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crawl4r.frontier.guesses import is_in_vain
from crawl4r.model import UrlState
from crawl4r.state.database import Database

_AFTER = """
SELECT a.id, a.at, a.again, u.url, u.page_type, u.depth, r.url, u.found_by, u.rule,
    u.written
FROM announcements a JOIN urls u ON u.id = a.url_id LEFT JOIN urls r ON r.id = u.referrer
WHERE a.id > ? ORDER BY a.id LIMIT ?
"""


class Announcement(NamedTuple):
    """An admitted URL. Numbers grow and are never used twice."""

    number: int
    at: float  # epoch seconds
    is_again: bool  # it was announced before, and is to be visited again
    url: str
    page_type: str
    depth: int
    referrer: str | None
    found_by: str
    rule: str
    written: str


class Announcements:
    """Rows of state.db; durable when the database commits."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def number_from(self, last: int) -> None:
        """Give no number up to this one, which somebody got from an earlier database."""
        rows = self._database.read("SELECT seq FROM sqlite_sequence WHERE name = 'announcements'")
        if not rows:
            self._database.write("INSERT INTO sqlite_sequence VALUES ('announcements', ?)", (last,))
        elif rows[0][0] < last:
            self._database.write(
                "UPDATE sqlite_sequence SET seq = ? WHERE name = 'announcements'", (last,)
            )

    def note(self, url: str, now: float) -> None:
        """A URL was admitted."""
        self._database.write(
            "INSERT INTO announcements (url_id, at, again) SELECT id, ?, 0 FROM urls WHERE url = ?",
            (now, url),
        )

    def note_all_again(self, state: UrlState, now: float) -> None:
        """All URLs in this state are to be visited again, but for guesses that led to nothing."""
        self._database.write(
            "INSERT INTO announcements (url_id, at, again) SELECT id, ?, 1 FROM urls"
            f" WHERE state = ? AND NOT {is_in_vain()}",
            (now, state.value),
        )

    def note_waiting_again(self, now: float) -> None:
        """The known URLs that wait for their turn are to be visited again."""
        self._database.write(
            "INSERT INTO announcements (url_id, at, again) SELECT id, ?, 1 FROM urls"
            " WHERE state = 'pending' AND capture IS NOT NULL",
            (now,),
        )

    def after(self, number: int, most: int) -> list[Announcement]:
        rows: list[tuple[Any, ...]] = self._database.read(_AFTER, (number, most))
        return [Announcement(row[0], row[1], bool(row[2]), *row[3:]) for row in rows]

    def forget(self, number: int) -> None:
        """Those up to this number are delivered."""
        self._database.write("DELETE FROM announcements WHERE id <= ?", (number,))
